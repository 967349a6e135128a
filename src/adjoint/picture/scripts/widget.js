// The explorer in a notebook (anywidget): the page in a frame of its own; moves go to Python, and what Python places comes back.

function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.style.cssText = "width:100%;height:640px;border:0";
  frame.title = "explorer";
  frame.srcdoc = model.get("page");
  const hear = (event) => {
    if (event.source !== frame.contentWindow || !event.data || !event.data.adjoint) return;
    model.set("moved", event.data.adjoint);
    model.save_changes();
  };
  const place = () => frame.contentWindow.postMessage({ adjoint: model.get("placed") }, "*");
  window.addEventListener("message", hear);
  model.on("change:placed", place);
  el.append(frame);
  return () => {
    window.removeEventListener("message", hear);
    model.off("change:placed", place);
  };
}

export default { render };
