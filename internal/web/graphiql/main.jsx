// The first import tells Monaco where its workers are; it must run before Monaco loads.
import "graphiql/setup-workers/vite";
import { createGraphiQLFetcher, createLocalStorage } from "@graphiql/toolkit";
import { GraphiQL } from "graphiql";
import { createRoot } from "react-dom/client";
import "./style.css";

// The API is the neighbour of this page: /graphiql/ talks to /graphql, and so does any common prefix.
const endpoint = new URL("../graphql", document.baseURI);
const subscriptions = new URL(endpoint);
subscriptions.protocol = endpoint.protocol === "https:" ? "wss:" : "ws:";

const fetcher = createGraphiQLFetcher({
  url: endpoint.href,
  subscriptionUrl: subscriptions.href,
  // The API has no @defer or @stream; this way it is asked for application/graphql-response+json.
  enableIncrementalDelivery: false,
});

// Not the default namespace, which any other GraphiQL on the same host and port would share.
const storage = createLocalStorage({ namespace: "incidentgraph" });

// examples reads what a first visit shows, one tab each. A page without them is still useful.
async function examples() {
  try {
    const response = await fetch("./examples.json");
    if (!response.ok) throw new Error(`status ${response.status}`);
    return (await response.json()).map(({ query, variables }) => ({
      query,
      variables: variables ? JSON.stringify(variables, null, 2) : null,
    }));
  } catch (error) {
    console.warn("examples.json:", error);
    return undefined;
  }
}

// linked gives the operation in the page's address, if there is one: ?query=…&variables=… is how links to GraphiQL
// pages carry it. It is shown in a tab of its own, and not run.
function linked() {
  const parameters = new URLSearchParams(location.search);
  const query = parameters.get("query");
  if (!query) return undefined;
  const variables = parameters.get("variables");
  // As if it had been typed: GraphiQL opens it now, and at the next visit.
  storage.setItem("graphiql:query", query);
  if (variables) storage.setItem("graphiql:variables", variables);
  else storage.removeItem("graphiql:variables");
  return { query, variables };
}

const link = linked();
const tabs = [...(link ? [link] : []), ...((await examples()) ?? [])];
const firstVisit = storage.getItem("graphiql:tabState") === null;

createRoot(document.getElementById("page")).render(
  <GraphiQL
    fetcher={fetcher}
    storage={storage}
    defaultTabs={tabs.length > 0 ? tabs : undefined}
    schemaDescription
    inputValueDeprecation
    // GraphiQL shows the first tab's query without its variables unless they are given here too.
    initialVariables={(link ?? (firstVisit ? tabs[0] : undefined))?.variables ?? undefined}
  >
    <GraphiQL.Logo>incidentgraph</GraphiQL.Logo>
  </GraphiQL>,
);
