import type { Check, Result } from '#shared/explain/checks.ts';
import type { Explained, Part } from '#shared/explain/explained.ts';
import type { Answer } from '#shared/http/answer.ts';
import { document, type Frame } from '#shared/pages/document.ts';
import { type Html, html } from '#shared/pages/html.ts';
import { textsOf } from '../texts/index.ts';
import { crumbsTo } from './crumbs.ts';
import { withCode } from './with-code.ts';

export interface ExplainProps {
  readonly path: string;
  /** The path of the list of exchanges. */
  readonly index: string;
  /** The text that the visitor has sent. */
  readonly text: string;
  readonly explained?: readonly Explained[];
  /** Why the text is not explained. */
  readonly problem?: string;
}

/** The fragment to which a form leads: its results. */
const RESULTS = 'results';

/** The page that explains a token, proof, challenge, credentials or field. Explanations are in English. */
export function explainPage(frame: Frame, props: ExplainProps): Answer {
  const { playground, explain: texts } = textsOf(frame.language);
  const { path, index, text, explained, problem } = props;
  return document(frame, {
    title: texts.title,
    status: problem === undefined ? 200 : 400,
    head: { home: '/' },
    forms: true,
    content: html`<div class="wide">
      <div class="intro">
        ${crumbsTo(frame, { list: playground.title, index }, texts.title)}
        <h1>${texts.title}</h1>
        <p>${texts.lead}</p>
        <p>${texts.kept}</p>
      </div>
      <form class="stack" method="post" action="${path}#${RESULTS}">
        <div class="field">
          <label for="text">${texts.label}</label>
          <textarea class="input" id="text" name="text" rows="8" spellcheck="false" required>
${text}</textarea>
        </div>
        <div class="buttons">
          <button class="button primary" type="submit">${texts.button}</button>
        </div>
      </form>
      ${
        problem !== undefined &&
        html`<p class="note bad" id="${RESULTS}" role="alert">
          ${texts.problem} <span lang="en">${problem}</span>
        </p>`
      }
      ${explained && html`<div class="wide" id="${RESULTS}">${explained.map((one, at) => shown(frame, one, at))}</div>`}
    </div>`,
  });
}

function shown(frame: Frame, { what, standard, parts, checks }: Explained, at: number): Html {
  const texts = textsOf(frame.language).explain;
  const id = `thing-${at + 1}`;
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}" lang="en">${what}</h2>
    <p class="muted small">${standard}</p>
    ${
      parts.length > 0 &&
      html`<h3>${texts.parts}</h3>
        <dl class="facts" lang="en">${parts.map(partOf)}</dl>`
    }
    ${
      checks.length > 0 &&
      html`<h3>${texts.checks}</h3>
        ${checksList(frame, checks)}`
    }
  </section> `;
}

function partOf({ name, value, note, section }: Part): Html {
  return html`<dt>${name}</dt>
    <dd>
      <code>${value}</code>
      ${note !== undefined && html`<br />${withCode(note)}`}
      ${section !== undefined && html` <span class="muted">(${section})</span>`}
    </dd> `;
}

/** The CSS class of each result, beside its word. */
const LOOKS: Readonly<Record<Result, string>> = {
  right: 'tag',
  wrong: 'tag bad',
  no: 'tag open',
  'not yet': 'tag open',
  open: 'tag open',
  'not reached': 'tag open',
};

/** The checks of a server in order, with their results. */
export function checksList({ language }: Frame, checks: readonly Check[]): Html {
  const { results } = textsOf(language).explain;
  return html`<ol class="checks">
    ${checks.map(
      ({ check, section, result, reason }) =>
        html`<li>
          <span class="${LOOKS[result]}">${results[result]}</span>
          <span lang="en"
            >${check}
            <span class="muted">(${section})</span>
            ${reason !== undefined && html`<br /><strong>${reason}</strong>`}</span
          >
        </li> `,
    )}
  </ol>`;
}
