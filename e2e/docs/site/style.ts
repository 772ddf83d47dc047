import { BASE } from '#shared/pages/style/base.ts';
import { colors } from '#shared/pages/style/colors.ts';
import { css } from '#shared/pages/style/css.ts';

/** The product's colours and fonts, and the layout of the documentation. */
const LAYOUT = css`
  html {
    scroll-padding-top: 4.5rem;
  }
  body > header {
    position: sticky;
    z-index: 2;
    top: 0;
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 0.5rem 1.5rem;
    padding: 0.625rem 1.25rem;
    border-bottom: 1px solid var(--line);
    background: var(--surface);
  }
  .brand {
    color: var(--text);
    font-weight: 650;
    text-decoration: none;
  }
  .skip {
    position: absolute;
    z-index: 3;
    top: -4rem;
    padding: 0.5rem 1rem;
    background: var(--surface);
  }
  .skip:focus {
    top: 0.5rem;
  }
  search {
    position: relative;
    flex: 0 1 26rem;
    margin-inline-start: auto;
  }
  search input {
    width: 100%;
    padding: 0.4375rem 0.75rem;
    border: 1px solid var(--edge);
    border-radius: 0.625rem;
    background: var(--surface);
    color: inherit;
    font: inherit;
  }
  ::placeholder {
    color: var(--muted);
    opacity: 1;
  }
  #results,
  search [role='status']:not(.hidden) {
    position: absolute;
    inset: calc(100% + 0.25rem) 0 auto;
    max-height: min(32rem, 75vh);
    margin: 0;
    padding: 0.375rem;
    overflow: auto;
    border: 1px solid var(--line);
    border-radius: 0.625rem;
    background: var(--surface);
    box-shadow: var(--shadow);
    list-style: none;
  }
  #results a {
    display: block;
    padding: 0.375rem 0.625rem;
    border-radius: 0.375rem;
    color: var(--text);
    font-size: 0.9375rem;
    text-decoration: none;
  }
  #results a:is(:hover, :focus-visible) {
    background: var(--soft);
  }
  #results a:focus-visible {
    outline-offset: -3px;
  }
  small {
    display: block;
    color: var(--muted);
    font-size: 0.8125rem;
  }
  mark {
    background: none;
    color: var(--text);
    font-weight: 600;
  }
  .columns {
    display: grid;
    grid-template-columns: 17rem minmax(0, 1fr);
    gap: 2.5rem;
    width: 100%;
    max-width: 80rem;
    margin-inline: auto;
    padding: 1.5rem 1.25rem 4rem;
  }
  nav {
    font-size: 0.9375rem;
  }
  nav p {
    margin: 0.75rem 0 0;
    color: var(--muted);
    font-size: 0.8125rem;
  }
  nav a {
    display: block;
    padding: 0.1875rem 0.625rem;
    border-inline-start: 3px solid transparent;
    color: var(--text);
    text-decoration: none;
  }
  nav a:hover {
    border-color: var(--edge);
  }
  nav [aria-current] {
    border-color: var(--mark);
    font-weight: 600;
  }
  summary {
    padding: 0.3125rem 0;
    font-weight: 600;
    cursor: pointer;
  }
  main {
    min-width: 0;
    outline: none;
  }
  main > :is(h2, h3, p, ul, ol, pre, .table, .copyable, .contents, blockquote) {
    margin-top: 1rem;
  }
  main > :is(p, ul, ol, blockquote, pre, .copyable, .contents) {
    max-width: 48rem;
  }
  main > h2 {
    margin-top: 2.25rem;
    font-size: 1.3125rem;
  }
  main > h3 {
    margin-top: 1.75rem;
  }
  main :is(ul, ol) {
    padding-inline-start: 1.375rem;
    list-style: revert;
  }
  main ol {
    margin-bottom: 0;
  }
  .contents {
    padding: 0.375rem 1rem;
    border: 1px solid var(--line);
    border-radius: 0.625rem;
  }
  .contents ul {
    columns: 14rem;
  }
  pre {
    overflow-x: auto;
    white-space: pre;
  }
  main :not(pre) > code {
    padding: 0.0625rem 0.25rem;
    border-radius: 0.25rem;
    background: var(--soft);
  }
  .copyable {
    position: relative;
  }
  .copyable button {
    position: absolute;
    top: 0.5rem;
    inset-inline-end: 0.5rem;
    padding: 0.125rem 0.625rem;
    border: 1px solid var(--edge);
    border-radius: 0.375rem;
    background: var(--surface);
    color: var(--text);
    font: inherit;
    font-size: 0.8125rem;
    cursor: pointer;
  }
  .table {
    overflow-x: auto;
  }
  table {
    width: 100%;
    border-collapse: collapse;
    font-size: 0.9375rem;
  }
  th,
  td {
    min-width: 6rem;
    padding: 0.4375rem 0.75rem;
    border-bottom: 1px solid var(--line);
    text-align: start;
    vertical-align: top;
    overflow-wrap: break-word;
  }
  img {
    max-width: 100%;
    height: auto;
    border-radius: 0.375rem;
    background: #fff;
  }
  @media (width >= 60rem) {
    nav {
      position: sticky;
      grid-area: 1 / 1;
      top: 5rem;
      align-self: start;
      max-height: calc(100vh - 6rem);
      overflow: auto;
      outline-offset: -3px;
    }
    main {
      grid-area: 1 / 2;
    }
    a[href='#pages'] {
      display: none;
    }
  }
  @media (width < 60rem) {
    body > header {
      column-gap: 1rem;
    }
    .columns {
      grid-template-columns: minmax(0, 1fr);
      gap: 1rem;
      padding-top: 0.75rem;
    }
    search {
      flex-basis: 100%;
    }
    html {
      scroll-padding-top: 7rem;
    }
  }
  @media print {
    header,
    nav,
    .copyable button {
      display: none;
    }
  }
`;

export const STYLE = colors('#1f5fbf') + BASE + LAYOUT;
