// How the search orders its results (html_search_scorer in conf.py). The weights are Sphinx's own.
var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,

  // Guides come first. Pages that are tables of names come last, but a name that was searched for leads.
  score: ([page, , , , score, , kind]) => {
    if (page === "reference/specification" || page.startsWith("reference/acp_")) {
      return kind === "object" && score >= 16 ? score : score - 20;
    }
    if (page.startsWith("reference/")) return kind === "title" ? score + 6 : score;
    return kind === "title" ? score + 8 : score + 5;
  },
};
