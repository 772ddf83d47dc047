import type { Answer } from '#shared/http/answer.ts';
import { html } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import { textsOf } from '../texts/index.ts';
import type { View, AskedItem } from '../frame/view.ts';
import { afterwards } from './afterwards.ts';
import { decision } from './decision.ts';
import { facts } from './facts.ts';
import { form } from './form.ts';
import { itemChoice } from './items.ts';
import { unknownNote } from './unknown-client.ts';
import { programName } from './program.ts';
import { moment } from './times.ts';

export interface DeviceConfirmProps {
  /** The URL to which the form is posted: `user_code`, `item` for each that is allowed, `decision` = allow | deny. */
  readonly action: string;
  readonly client: string;
  /** The code as the device shows it: ABCD-EFGH. Absent: the person came by a link. */
  readonly userCode?: string;
  readonly items: readonly AskedItem[];
  /** As in `ConsentProps`. */
  readonly redirectUri?: string;
  /** Where the client is told of the decision; its host is shown. */
  readonly pushUri?: string;
  /** The fingerprint of the key of a client that no operator registered. */
  readonly unknown?: string;
  /** Where and when the device asked. */
  readonly from: { readonly address?: string; readonly agent?: string; readonly at: number };
}

/**
 * Shows who asks and from where before a device gets anything, and warns of a code that came from
 * somebody else (RFC 8628 sections 3.3 and 5.4).
 */
export function deviceConfirmPage(view: View, props: DeviceConfirmProps): Answer {
  const { action, client, userCode, items, from, unknown, redirectUri } = props;
  const all = textsOf(view.language);
  const texts = all.deviceConfirm;
  const program = from.agent === undefined ? '' : programName(from.agent, all);
  return document(view, {
    title: texts.title(client),
    content: html`<div class="card">
      <div class="intro">
        <h1>${texts.title(client)}</h1>
        ${userCode !== undefined && html`<p>${texts.compare}</p>`}
      </div>
      ${userCode !== undefined && html`<p class="code usercode">${userCode}</p>`}
      ${facts([
        [texts.asked, moment(from.at, view)],
        [texts.address, from.address ?? texts.unknown],
        [texts.program, program === '' ? texts.unknown : program],
      ])}
      <p class="note warn">
        <strong>${userCode === undefined ? texts.linkTitle : texts.warningTitle}</strong>
        ${texts.warning}
      </p>
      ${unknown !== undefined && unknownNote(view, unknown)}
      <p>${texts.lead(client)}</p>
      ${form(view, action, userCode === undefined ? {} : { user_code: userCode }, html`${itemChoice(view, items)}${decision(view)}`)}
      ${
        (redirectUri ?? props.pushUri) !== undefined &&
        html`<div class="intro small muted">${afterwards(view, props)}</div>`
      }
    </div>`,
  });
}
