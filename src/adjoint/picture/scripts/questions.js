// Questions to answer before one looks. A guess is a number or a choice; the answer is told when it is right, or asked for.

const questions = element("section", { id: "questions", "aria-label": "questions" });
const MISS = 0.01; // how far a guess may be from the number, beside the number itself

// list: [question, answer] or [question, answer, what is right]: a number, or choices of which the first is right.
function ask(list) {
  const tally = element("p", { id: "tally", class: "muted", role: "status" }), forms = [];
  let predicted = 0;
  const answered = (i, own) => {
    predicted += own;
    write(tally, `${i + 1} of ${list.length} answered, ${predicted} by you`);
    if (forms[i + 1]) forms[i + 1].hidden = false;
  };
  list.forEach(([text, answer, right], i) => forms.push(questionForm(text, answer, right, (own) => answered(i, own))));
  forms.slice(1).forEach((form) => { form.hidden = true; });
  questions.replaceChildren(...(list.length ? [element("h2", {}, "Predict, then look"), ...forms, tally] : []));
}

function questionForm(text, answer, right, answered) {
  const verdict = element("p", { role: "status", class: "verdict" }), told = element("p", { class: "answer", hidden: "" }, answer);
  const field = right === undefined ? null : Array.isArray(right) ? choicesOf(text, right) : guessOf();
  const tell = (own) => {
    write(verdict, own ? "Right." : "");
    told.hidden = false;
    buttons.hidden = true;
    for (const input of form.querySelectorAll("input")) input.disabled = true;
    answered(own ? 1 : 0);
    go(view.steps.length - 1);
  };
  const check = (event) => {
    event.preventDefault();
    const guess = field.guess();
    if (guess === null) write(verdict, Array.isArray(right) ? "Choose one first." : "Type a number first.");
    else if (Array.isArray(right) ? guess === right[0] : Math.abs(guess - right) <= MISS * Math.max(1, Math.abs(right))) tell(true);
    else write(verdict, `Not ${Array.isArray(right) ? "that" : show(guess)}. Try again, step through the figure, or let it be shown.`);
  };
  const buttons = element("div", { class: "buttons" }, field && element("button", { type: "submit" }, "check"),
    element("button", { type: "button", class: "reveal", onclick: () => tell(false) }, field ? "show me" : "show the answer"));
  const form = element("form", { class: "question", onsubmit: check }, element("fieldset", {}, element("legend", {}, text), field && field.made, " ", buttons), verdict, told);
  return form;
}

function guessOf() {
  const input = element("input", { type: "number", step: "any", "aria-label": "your prediction", placeholder: "your prediction" });
  return { made: input, guess: () => (Number.isFinite(input.valueAsNumber) ? input.valueAsNumber : null) };
}

let choiceNames = 0;
function choicesOf(text, choices) { // in the order of the alphabet, which says nothing of which is right
  const name = `choice${choiceNames++}`;
  const rows = choices.slice().sort().map((choice) => element("label", { class: "choice" }, element("input", { type: "radio", name, value: choice }), " ", choice));
  const made = element("div", {}, ...rows);
  return { made, guess: () => { const chosen = made.querySelector("input:checked"); return chosen ? chosen.value : null; } };
}
