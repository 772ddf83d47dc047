import { css } from './css.ts';

/** Fonts, and the look of every element. */
export const BASE = css`
  :root {
    --mono:
      ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace;
    font:
      100%/1.55 system-ui,
      -apple-system,
      'Segoe UI',
      Roboto,
      'Helvetica Neue',
      Arial,
      sans-serif;
    -webkit-text-size-adjust: 100%;
    text-size-adjust: 100%;
  }
  *,
  ::before,
  ::after {
    box-sizing: border-box;
  }
  body {
    display: flex;
    flex-direction: column;
    min-height: 100vh;
    min-height: 100dvh;
    margin: 0;
    background: var(--canvas);
    color: var(--text);
    overflow-wrap: anywhere;
  }
  h1,
  h2,
  h3,
  p,
  ul,
  dl,
  dd,
  fieldset,
  form,
  pre {
    margin: 0;
    padding: 0;
  }
  h1 {
    font-size: 1.625rem;
    line-height: 1.25;
    letter-spacing: -0.015em;
    font-weight: 650;
    text-wrap: balance;
  }
  h2 {
    font-size: 1.125rem;
    line-height: 1.35;
    font-weight: 650;
  }
  h3 {
    font-size: 1rem;
    line-height: 1.4;
    font-weight: 600;
  }
  strong {
    font-weight: 600;
  }
  ul {
    list-style: none;
  }
  a {
    color: var(--mark);
    text-underline-offset: 0.18em;
    text-decoration-thickness: 0.07em;
  }
  a:hover {
    text-decoration-thickness: 0.13em;
  }
  :focus-visible {
    outline: 3px solid var(--mark);
    outline-offset: 2px;
  }
  code,
  pre,
  .code {
    font-family: var(--mono);
  }
  code {
    font-size: 0.9375em;
  }
  pre {
    padding: 0.875rem 1rem;
    border: 1px solid var(--line);
    border-radius: 0.625rem;
    background: var(--soft);
    font-size: 0.875rem;
    line-height: 1.6;
    white-space: pre-wrap;
  }
  [hidden] {
    display: none !important;
  }
  .muted {
    color: var(--muted);
  }
  .small {
    font-size: 0.875rem;
  }
  .hidden {
    position: absolute;
    width: 1px;
    height: 1px;
    margin: -1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  @media (prefers-reduced-motion: reduce) {
    * {
      transition: none !important;
    }
  }
`;
