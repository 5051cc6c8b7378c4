// Made of inspector.html by `npm run scripts`; change that.
export const inspectorHtml = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>Locks</title>
    <link rel="icon" href="data:," />
    <style></style>
  </head>
  <body>
    <header>
      <h1>Locks</h1>
      <p id="summary" role="status" aria-live="polite">Connecting …</p>
      <label class="filter">
        <span>Filter</span>
        <input id="filter" type="search" placeholder="key, host, method" autocomplete="off" />
      </label>
    </header>
    <p id="notice" role="alert" hidden></p>
    <main id="clients"></main>
    <noscript><p>This page needs JavaScript.</p></noscript>
    <script></script>
  </body>
</html>
`;
