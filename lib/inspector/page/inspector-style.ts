// Made of inspector.css by `npm run scripts`; change that.
export const inspectorStyle = `#notice,
.problem {
  margin: 0 0 1rem;
  padding: 0.5rem 0.875rem;
  border-left: 3px solid var(--bad);
  background: var(--card);
  color: var(--bad);
}
section {
  margin-bottom: 1.5rem;
  border: 1px solid var(--line);
  border-radius: 0.625rem;
  background: var(--card);
  overflow: hidden;
}
section > * {
  padding: 0.75rem 1.125rem;
}
.title {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 0.25rem 0.75rem;
}
.health::before {
  content: '';
  display: inline-block;
  width: 0.5rem;
  height: 0.5rem;
  margin-right: 0.375rem;
  border-radius: 50%;
  background: currentcolor;
}
.up {
  color: var(--good);
}
.degraded {
  color: var(--warn);
}
.down {
  color: var(--bad);
}
.muted {
  color: var(--muted);
}
.problem,
.note {
  margin: 0;
  border-top: 1px solid var(--line);
}
.scroll {
  padding: 0;
  border-top: 1px solid var(--line);
}
.locks {
  table-layout: fixed;
}
.locks th:first-child {
  width: 22%;
}
.locks th:last-child {
  width: 9.5rem;
}
table {
  width: 100%;
  border-collapse: collapse;
}
th,
td {
  padding: 0.625rem 1.125rem;
  text-align: left;
  vertical-align: top;
}
thead th {
  color: var(--muted);
  font-size: 0.8125rem;
  font-weight: 500;
}
tbody tr {
  border-top: 1px solid var(--line);
}
tbody th {
  font-weight: 600;
  overflow-wrap: anywhere;
}
tbody th small {
  display: block;
  color: var(--muted);
  font-weight: 400;
}
td {
  overflow-wrap: anywhere;
}
.counts,
.number {
  width: 1%;
  white-space: nowrap;
  font-variant-numeric: tabular-nums;
}
ul,
ol {
  margin: 0;
  padding: 0;
  list-style: none;
}
ol {
  counter-reset: place;
}
ol > li::before {
  counter-increment: place;
  content: counter(place) '.';
  float: left;
  width: 1.75rem;
  color: var(--muted);
  font-variant-numeric: tabular-nums;
}
li + li {
  margin-top: 0.5rem;
}
li {
  overflow: hidden;
}
.who {
  overflow: hidden;
}
.method {
  font-weight: 500;
}
.detail {
  color: var(--muted);
  font-size: 0.8125rem;
  font-variant-numeric: tabular-nums;
}
.mode {
  margin-right: 0.375rem;
  padding: 0 0.375rem;
  border: 1px solid var(--line);
  border-radius: 0.25rem;
  color: var(--muted);
  font-size: 0.75rem;
}
button {
  float: right;
  margin-left: 0.75rem;
  padding: 0.125rem 0.625rem;
  border: 1px solid var(--line);
  border-radius: 0.375rem;
  background: none;
  color: var(--bad);
  font: inherit;
  font-size: 0.8125rem;
  cursor: pointer;
}
button:hover {
  border-color: currentcolor;
}
details {
  border-top: 1px solid var(--line);
}
summary {
  color: var(--muted);
  cursor: pointer;
}
details table {
  margin-top: 0.5rem;
}
details :is(th, td) {
  padding: 0.25rem 1.5rem 0.25rem 0;
  width: auto;
  font-weight: 400;
}
@media (max-width: 46rem) {
  body {
    padding: 0.875rem;
  }
  .filter {
    width: 100%;
    margin: 0.5rem 0 0;
  }
  input {
    flex: 1;
    width: auto;
  }
  .locks thead {
    position: absolute;
    clip-path: inset(50%);
  }
  .locks :is(tr, th, td) {
    display: block;
    width: auto !important;
  }
  .locks tbody tr {
    padding: 0.625rem 0;
  }
  .locks tbody :is(th, td) {
    padding: 0.1875rem 1.125rem;
  }
  .locks td::before {
    content: attr(data-label);
    display: block;
    color: var(--muted);
    font-size: 0.75rem;
  }
  .locks td.empty {
    display: none;
  }
}
`;
