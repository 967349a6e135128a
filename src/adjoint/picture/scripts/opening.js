// The explorer's page: it shows the graph that it carries.

open(JSON.parse(document.getElementById("graph").textContent));
