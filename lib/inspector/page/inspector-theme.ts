// Made of theme.css by `npm run scripts`; change that.
export const inspectorTheme = `:root {
  color-scheme: light dark;
  --page: #f6f7f9;
  --card: #ffffff;
  --text: #1c2330;
  --muted: #5c6675;
  --line: #e1e5eb;
  --good: #1a7f4b;
  --warn: #9a6200;
  --bad: #b42318;
  --accent: #2f5fd0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12151b;
    --card: #1a1f28;
    --text: #e4e8ef;
    --muted: #98a2b3;
    --line: #2c3441;
    --good: #57c98a;
    --warn: #e0ac4d;
    --bad: #f58a80;
    --accent: #8fb0ff;
  }
}
* {
  box-sizing: border-box;
}
[hidden] {
  display: none !important;
}
body {
  margin: 0 auto;
  max-width: 84rem;
  padding: 1.5rem;
  background: var(--page);
  color: var(--text);
  font:
    0.9375rem/1.5 system-ui,
    sans-serif;
}
header {
  display: flex;
  flex-wrap: wrap;
  align-items: baseline;
  gap: 0.25rem 1.25rem;
  margin-bottom: 1rem;
}
h1,
h2 {
  margin: 0;
  font-weight: 600;
  line-height: 1.3;
}
h1 {
  font-size: 1.5rem;
}
h2 {
  font-size: 1.0625rem;
}
#summary {
  margin: 0;
  color: var(--muted);
}
.filter {
  margin-left: auto;
  display: flex;
  align-items: center;
  gap: 0.5rem;
  color: var(--muted);
}
input {
  width: 15rem;
  max-width: 100%;
  padding: 0.375rem 0.625rem;
  border: 1px solid var(--line);
  border-radius: 0.375rem;
  background: var(--card);
  color: var(--text);
  font: inherit;
}
:is(input, button, summary):focus-visible {
  outline: 2px solid var(--accent);
  outline-offset: 1px;
}
`;
