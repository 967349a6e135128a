// The explorer's page: it shows the graph that it carries, and asks what its maker wants to be predicted.

const carried = JSON.parse(document.getElementById("graph").textContent);
open(carried);
ask(carried.questions);
