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

const tabs = await examples();
const firstVisit = storage.getItem("graphiql:tabState") === null;

createRoot(document.getElementById("page")).render(
  <GraphiQL
    fetcher={fetcher}
    storage={storage}
    defaultTabs={tabs}
    schemaDescription
    inputValueDeprecation
    // GraphiQL shows the first tab's query without its variables unless they are given here too.
    initialVariables={(firstVisit && tabs?.[0]?.variables) || undefined}
  >
    <GraphiQL.Logo>incidentgraph</GraphiQL.Logo>
  </GraphiQL>,
);
