import { copyable } from '#shared/pages/copyable.ts';
import { html, type Html } from '#shared/pages/html.ts';
import { textsOf } from '../texts/index.ts';
import type { View } from '../frame/view.ts';
import type { ShownProblem } from './problem.ts';
import { moment } from './times.ts';
import { encode } from 'uqr';

/** A secret of one-time codes that no app has yet. */
export interface NewSecondFactor {
  /** The URI (`otpauth`) of the QR code. */
  readonly uri: string;
  /** In base32, for typing. */
  readonly secret: string;
  /** The passkeys and keys that let the person in without a code. */
  readonly ways: readonly OtherWay[];
}

/** A passkey or a key. The person can have it removed with the set-up of a second factor: the form sends `item`. */
export interface OtherWay {
  readonly item: string;
  readonly kind: 'passkey' | 'key';
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** The box is ticked already. */
  readonly isTicked?: boolean;
}

/** `recovery`: the recovery code is wrong; `ways`: the person has other ways to come in than the form listed. */
export type SecondFactorProblem =
  | { readonly kind: 'wrong' | 'recovery' | 'ways' }
  | { readonly kind: 'later'; readonly seconds: number };

/** The attributes of the field that a problem is of. */
const stateOf = (problem: ShownProblem | undefined) =>
  problem &&
  html` aria-describedby="${problem.id}"${problem.invalid && html` aria-invalid="true"`}`;

/** The field of a one-time code. */
function codeField({ language }: View, problem: ShownProblem | undefined, isFirst = true): Html {
  const { fields } = textsOf(language).secondFactor;
  return html`<div class="field">
    <label for="code">${fields.code}</label>
    <input
      class="input code"
      id="code"
      name="code"
      inputmode="numeric"
      autocomplete="one-time-code"
      maxlength="12"
      ${stateOf(problem)}${isFirst && html` autofocus`}
    />
  </div>`;
}

/** The field of a recovery code, for whoever has lost their phone. It stays open after a wrong one. */
function recoveryField({ language }: View, problem: ShownProblem | undefined): Html {
  const { fields } = textsOf(language).secondFactor;
  const isOpen = problem !== undefined;
  return html`<details${isOpen && html` open`}>
    <summary>${fields.recoveryInstead}</summary>
    <div class="field">
      <label for="recovery">${fields.recovery}</label>
      <input
        class="input code"
        id="recovery"
        name="recovery"
        autocomplete="off"
        autocapitalize="characters"
        spellcheck="false"
        maxlength="24"
        aria-describedby="recovery-hint${problem && ` ${problem.id}`}"${problem?.invalid && html` aria-invalid="true"`}${isOpen && html` autofocus`}
      />
      <small id="recovery-hint">${fields.recoveryHint}</small>
    </div>
  </details>`;
}

/** Both fields; `ofRecovery`: the problem is of a recovery code. */
export const codeOrRecovery = (
  view: View,
  problem: ShownProblem | undefined,
  ofRecovery: boolean,
): readonly Html[] => [
  codeField(view, ofRecovery ? undefined : problem, !ofRecovery),
  recoveryField(view, ofRecovery ? problem : undefined),
];

/** The secret, to scan and to type, and the field of the code that shows that the app has it. */
export function setUpFields(
  view: View,
  { uri, secret, ways }: NewSecondFactor,
  problem: ShownProblem | undefined,
): Html {
  const { fields } = textsOf(view.language).secondFactor;
  const groups = (secret.match(/.{1,4}/g) ?? []).join(' ');
  return html`<p>${fields.scan}</p>
    ${qr(uri, fields.picture)}
    <p><a href="${uri}">${fields.here}</a></p>
    <details>
      <summary>${fields.cannotScan}</summary>
      <p>${fields.type}</p>
      ${copyable(view.language, html`<code>${groups}</code>`, fields.type)}
    </details>
    <p>${fields.confirm}</p>
    ${codeField(view, problem)} ${ways.length > 0 && wayChoice(view, ways)}`;
}

/** The ways to come in that would stay. Somebody who knew the password may have planted one. */
function wayChoice(view: View, ways: readonly OtherWay[]): Html {
  const { fields } = textsOf(view.language).secondFactor;
  const boxes = ways.map(
    ({ item, kind, name, since, isTicked = false }) =>
      html`<li>
        <label
          ><input type="checkbox" name="item" value="${item}" ${isTicked && html` checked`} />
          <span>${fields.remove(fields.ways[kind], name)}</span>
          <small>${fields.made(moment(since, view))}</small></label
        >
      </li> `,
  );
  return html`<fieldset class="items">
    <legend>${fields.other}</legend>
    <p class="small muted">${fields.otherText}</p>
    <ul>
      ${boxes}
    </ul>
  </fieldset>`;
}

/** Modules around the symbol (ISO/IEC 18004 section 5.3.8). */
const QUIET_ZONE = 4;

/** A QR code, black on white in any colour scheme. */
function qr(text: string, label: string): Html {
  const { size, data } = encode(text, { border: QUIET_ZONE });
  const modules = data.flatMap((row, y) =>
    row.flatMap((on, x) => (on ? `M${x} ${y}h1v1h-1z` : [])),
  );
  return html`<svg
    class="qr"
    role="img"
    aria-label="${label}"
    viewBox="0 0 ${size} ${size}"
    shape-rendering="crispEdges"
  >
    <rect width="${size}" height="${size}" fill="#fff" />
    <path d="${modules.join('')}" fill="#000" />
  </svg>`;
}
