import type { Answer } from '#shared/http/answer.ts';
import { html } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import { textsOf } from '../texts/index.ts';
import type { DeviceConfirmProps, View } from '../frame/view.ts';
import { decision } from './decision.ts';
import { facts } from './facts.ts';
import { form } from './form.ts';
import { itemChoice } from './items.ts';
import { programName } from './program.ts';
import { moment } from './times.ts';

/**
 * Shows who asks and from where before a device gets anything, and warns of a code that came from
 * somebody else (RFC 8628 sections 3.3 and 5.4).
 */
export function deviceConfirmPage(view: View, props: DeviceConfirmProps): Answer {
  const { action, client, userCode, items, from } = props;
  const all = textsOf(view.language);
  const texts = all.deviceConfirm;
  const program = from.agent === undefined ? '' : programName(from.agent, all);
  return document(view, {
    title: texts.title(client),
    content: html`<div class="card">
      <div class="intro">
        <h1>${texts.title(client)}</h1>
        <p>${texts.compare}</p>
      </div>
      <p class="code usercode">${userCode}</p>
      ${facts([
        [texts.asked, moment(from.at, view)],
        [texts.address, from.address ?? texts.unknown],
        [texts.program, program === '' ? texts.unknown : program],
      ])}
      <p class="note warn"><strong>${texts.warningTitle}</strong> ${texts.warning}</p>
      <p>${texts.lead(client)}</p>
      ${form(view, action, { user_code: userCode }, html`${itemChoice(view, items)}${decision(view)}`)}
    </div>`,
  });
}
