import type { Answer } from '#shared/http/answer.ts';
import { copyable } from '#shared/pages/copyable.ts';
import { docsLink } from '#shared/pages/docs-link.ts';
import { document, type Frame } from '#shared/pages/document.ts';
import { type Html, html } from '#shared/pages/html.ts';
import { crumbsTo } from './crumbs.ts';
import type { Check } from '#shared/explain/checks.ts';
import { checksList } from './explain.ts';
import { type Outcome, outcomeLine } from './outcome.ts';
import { exchangePicture, type PicturedParty, type PicturedSender } from './exchange-picture.ts';
import { type Remark, remarkNote } from './remark.ts';
import { withCode } from './with-code.ts';
import type { Texts } from '../texts/en.ts';
import { textsOf } from '../texts/index.ts';

/** A part of the list: exchanges in which the client does something similar. */
export type ExchangeGroup = keyof Texts['playground']['groups'];

/** An exchange in the list. Texts about protocols are in English on every page. */
export interface ListedExchange {
  readonly title: string;
  readonly about: string;
  readonly standard: string;
  readonly path: string;
}

export interface ShownMessage {
  /** The message as on the wire, with LF for CR LF, and without empty lines at the end. */
  readonly text: string;
  /** Whether the content is shown as octets. */
  readonly hexadecimal?: boolean;
  /** Notes on its fields in order, each followed by the notes on its parameters. */
  readonly notes: readonly ShownNote[];
}

export interface ShownNote {
  /** The name of a field, or of a parameter of the previous field. */
  readonly name: string;
  readonly text: string;
  readonly section: string;
  /** The decoded form of an encoded value. */
  readonly decoded?: string | undefined;
  /** Whether the page does not have the note yet. */
  readonly isNew: boolean;
}

export interface ShownLeg {
  readonly title: string;
  /** The party that got the request. Absent: the server. */
  readonly to?: PicturedParty | undefined;
  /** Whether the server promised the request itself. */
  readonly promised?: boolean | undefined;
  /** The sender. Absent: the client. */
  readonly from?: PicturedSender | undefined;
  readonly remarks: readonly Remark[];
  /** The mistake that the client makes here, in words. */
  readonly mistake?: string | undefined;
  readonly sent: ShownMessage;
  readonly received: ShownMessage;
  /** The checks of the server, in order. Undefined: the exchange does not list them. */
  readonly checks?: readonly Check[] | undefined;
  /** The meaning of the answer. Undefined: the answer needs no explanation. */
  readonly outcome?: Outcome | undefined;
}

/** A term that a page uses, and its meaning. */
export interface ShownWord {
  readonly word: string;
  readonly text: string;
  readonly section: string;
}

export interface ExchangeProps extends ListedExchange {
  /** The abbreviation in the title, written out. */
  readonly longName?: string | undefined;
  readonly words: readonly ShownWord[];
  /** The path of the list. */
  readonly index: string;
  /** A file below `docs/`. */
  readonly document: string;
  /** A shell command for the same exchange, if a usual program supports it. */
  readonly command: string | undefined;
  /** Descriptions of mistakes, by name. */
  readonly mistakes: Readonly<Record<string, string>>;
  /** The mistake that the client made. */
  readonly mistake?: string | undefined;
  /** The role of the server in the exchange. Absent: a server. */
  readonly serverIs?: 'pushService' | undefined;
  /** The value by which the form requests HTTP/2. Undefined: HTTP/2 is not offered. */
  readonly http2?: string | undefined;
  /** Whether the messages used HTTP/2. */
  readonly overHttp2?: boolean;
  /** The recorded messages. Absent before the exchange. */
  readonly legs?: readonly ShownLeg[];
}

/**
 * The page that lists the exchanges of the playground. `explain`: the path of the page that explains texts. `missing`:
 * the schemes without an exchange.
 */
export function exchangesPage(
  frame: Frame,
  listed: (group: ExchangeGroup) => readonly ListedExchange[],
  { explain, missing }: { readonly explain: string; readonly missing: readonly string[] },
): Answer {
  const { playground: texts, explain: other } = textsOf(frame.language);
  return document(frame, {
    title: texts.title,
    head: { home: '/' },
    content: html`<div class="wide">
      <div class="intro">
        <h1>${texts.title}</h1>
        <p>${texts.lead}</p>
        <p><a href="${explain}">${other.title}</a>: ${other.lead}</p>
      </div>
      ${Object.entries(texts.groups).map(
        ([group, name]) =>
          html`<section aria-labelledby="${group}">
            <h2 id="${group}">${name}</h2>
            <ul class="list">
              ${listed(group as ExchangeGroup).map(entryOf)}
            </ul>
          </section> `,
      )}
      ${missing.length > 0 && html`<p class="muted">${texts.missing} ${missing.join(', ')}.</p>`}
    </div>`,
  });
}

const entryOf = ({ title, about, standard, path }: ListedExchange): Html =>
  html`<li>
    <div class="entry">
      <h3><a href="${path}">${title}</a></h3>
      <p lang="en">${about}</p>
      <p class="muted small">${standard}</p>
    </div>
  </li> `;

/** The page of one exchange: the form that performs it, and the recorded messages. */
export function exchangePage(frame: Frame, props: ExchangeProps): Answer {
  const texts = textsOf(frame.language).playground;
  const { title, longName, about, standard, words, index, document: file, command, legs } = props;
  return document(frame, {
    title,
    head: { home: '/' },
    forms: true,
    content: html`<div class="wide">
      <div class="intro">
        ${crumbsTo(frame, { list: texts.title, index }, title)}
        <h1>${title}</h1>
        <p lang="en">${about}</p>
        ${texts.inEnglish && html`<p class="muted small">${texts.inEnglish}</p>`}
        <dl class="facts">
          ${
            longName !== undefined &&
            html`<dt>${texts.longName}</dt>
              <dd lang="en">${longName}</dd> `
          }
          <dt>${texts.standard}</dt>
          <dd>${standard}</dd>
          <dt>${texts.document}</dt>
          <dd>${docsLink(frame.brand, file)}</dd>
        </dl>
        ${
          words.length > 0 &&
          html`<details>
            <summary>${texts.words}</summary>
            <dl class="facts" lang="en">${words.map(wordOf)}</dl>
          </details>`
        }
      </div>
      ${
        command !== undefined &&
        html`<section aria-labelledby="command">
          <h2 id="command">${texts.command}</h2>
          ${copyable(frame.language, html`<pre>${command}</pre>`, texts.command)}
        </section>`
      }
      ${formOf(frame, props)} ${legs && resultsOf(frame, props, legs)}
    </div>`,
  });
}

const wordOf = ({ word, text, section }: ShownWord): Html =>
  html`<dt>${word}</dt>
    <dd>${text} <span class="muted">(${section})</span></dd> `;

/** The fragment to which the form leads: the results. */
const RESULTS = 'results';

const idOf = (leg: number): string => `leg-${leg + 1}`;

/**
 * The outcome at the top is that of the mistake, or of the last leg. A flow without a mistake may end with a refusal on
 * purpose, such as that of a revoked token, so this refusal is no failure.
 */
function resultsOf(frame: Frame, props: ExchangeProps, legs: readonly ShownLeg[]): Html {
  const { step, fieldLists, onPurpose } = textsOf(frame.language).playground;
  const wrong = legs.findIndex(({ mistake }) => mistake !== undefined);
  const at = wrong === -1 ? legs.length - 1 : wrong;
  const { outcome } = legs[at] ?? {};
  const way = html`(<a href="#${idOf(at)}">${step} ${at + 1}</a>)`;
  const isOnPurpose = wrong === -1 && outcome?.kind === 'refused';
  return html`<div class="wide" id="${RESULTS}">
    ${isOnPurpose ? html`<p class="note">${onPurpose} ${way}</p>` : outcome && outcomeLine(frame, outcome, way)}
    ${props.overHttp2 && html`<p>${fieldLists}</p>`} ${stepsOf(frame, legs)}
    ${pictureOf(frame, props, legs)} ${legs.map((leg, index) => legOf(frame, props, leg, index))}
  </div>`;
}

/** The steps in words, each with a link to its messages. */
function stepsOf({ language }: Frame, legs: readonly ShownLeg[]): Html {
  const { steps } = textsOf(language).playground;
  return html`<section aria-labelledby="steps">
    <h2 id="steps">${steps}</h2>
    <ol class="points" lang="en">
      ${legs.map(({ title }, at) => html`<li><a href="#${idOf(at)}">${title}</a></li> `)}
    </ol>
  </section>`;
}

function formOf(
  { language }: Frame,
  { path, mistakes, mistake, http2, overHttp2 }: ExchangeProps,
): Html {
  const texts = textsOf(language).playground;
  const option = ([name, words]: readonly [string, string]) =>
    name === mistake
      ? html`<option value="${name}" selected lang="en">${words}</option>`
      : html`<option value="${name}" lang="en">${words}</option>`;
  return html`<section aria-labelledby="perform">
    <h2 id="perform">${texts.perform}</h2>
    <p>${texts.performText}</p>
    <form class="stack" method="post" action="${path}#${RESULTS}">
      <div class="field">
        <label for="mistake">${texts.mistake}</label>
        <select class="input" id="mistake" name="mistake">
          <option value="">${texts.noMistake}</option>
          ${Object.entries(mistakes).map(option)}
        </select>
      </div>
      ${
        http2 !== undefined &&
        html`<div class="field">
          <label for="version">${texts.version}</label>
          <select class="input" id="version" name="version">
            <option value="">HTTP/1.1</option>
            ${
              overHttp2
                ? html`<option value="${http2}" selected>HTTP/2</option>`
                : html`<option value="${http2}">HTTP/2</option>`
            }
          </select>
        </div>`
      }
      <div class="buttons">
        <button class="button primary" type="submit">${texts.button}</button>
      </div>
    </form>
  </section>`;
}

function pictureOf(
  { language }: Frame,
  { serverIs }: Pick<ExchangeProps, 'serverIs'>,
  legs: readonly ShownLeg[],
): Html {
  const { picture, dashed, parties } = textsOf(language).playground;
  const server = serverIs === undefined ? parties.server : parties[serverIs];
  return html`<section aria-labelledby="picture">
    <h2 id="picture">${picture}</h2>
    ${exchangePicture(legs, { ...parties, server, label: picture, dashed })}
  </section>`;
}

function legOf(
  frame: Frame,
  { serverIs }: Pick<ExchangeProps, 'serverIs'>,
  leg: ShownLeg,
  at: number,
): Html {
  const { title, to, from, promised, remarks, mistake, sent, received, checks, outcome } = leg;
  const texts = textsOf(frame.language).playground;
  const id = idOf(at);
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${at + 1}. <span lang="en">${title}</span></h2>
    ${
      mistake !== undefined &&
      html`<p class="note bad">
        <strong>${texts.mistakeHere}</strong> <span lang="en">${mistake}</span>
      </p>`
    }
    <h3>${promised ? texts.promised : texts.sentBy[from ?? 'client']}</h3>
    ${messageOf(frame, sent)}
    ${
      checks &&
      html`<h3>${texts.checks}</h3>
        ${checksList(frame, checks)}`
    }
    <h3>${texts.answeredBy[to ?? serverIs ?? 'server']}</h3>
    ${messageOf(frame, received)} ${outcome && outcomeLine(frame, outcome)}
    ${remarks.map(remarkNote)}
  </section> `;
}

function messageOf({ language }: Frame, { text, hexadecimal, notes }: ShownMessage): Html {
  const { fields, octets, decoded: inClear } = textsOf(language).playground;
  const [encoded, plain] = [notes.filter(isEncoded), notes.filter((note) => !isEncoded(note))];
  return html`<pre>${text}</pre>
    ${hexadecimal && html`<p class="muted small">${octets}</p>`}
    ${
      encoded.length > 0 &&
      html`<p class="small">${inClear}</p>
        ${notesList(encoded)}`
    }
    ${
      plain.length > 0 &&
      html`<details>
        <summary>${fields}</summary>
        ${notesList(plain)}
      </details>`
    }`;
}

const isEncoded = ({ decoded }: ShownNote): boolean => decoded !== undefined;

/** Lists notes, each with its decoded value, and with its text if it is new on the page. */
function notesList(notes: readonly ShownNote[]): Html {
  return html`<dl class="facts" lang="en">
    ${notes.map(
      ({ name, text, section, decoded, isNew }) =>
        html`<dt>${name}</dt>
          <dd>
            ${decoded !== undefined && html`<code>${decoded}</code>`}
            ${isNew && html`<p>${withCode(text)} <span class="muted">(${section})</span></p>`}
          </dd> `,
    )}
  </dl>`;
}
