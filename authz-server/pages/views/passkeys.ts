import type { Answer } from '#shared/http/answer.ts';
import { type Html, html } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import type { AccountPasskey, PasskeysProps } from '../frame/account-view.ts';
import type { View } from '../frame/view.ts';
import { textsOf } from '../texts/index.ts';
import { CREDENTIAL_SCRIPT } from './credential-script.ts';
import { endButton } from './end-button.ts';
import { facts } from './facts.ts';
import { form } from './form.ts';
import { passkeyButton } from './passkey-button.ts';
import { shownProblem } from './problem.ts';
import { moment } from './times.ts';

/** The passkeys of a person, each with the means to rename and remove it, and a form to make one. */
export function passkeysPage(view: View, props: PasskeysProps): Answer {
  const { action, passkeys, hasPassword, done } = props;
  const texts = textsOf(view.language).passkeys;
  const problem = props.problem && shownProblem(view, { kind: props.problem }, texts.problems);
  return document(view, {
    ...problem,
    title: problem ? texts.problemTitle : texts.title,
    script: { text: CREDENTIAL_SCRIPT },
    content: html`<div class="wide">
      <div class="intro">
        <h1>${texts.title}</h1>
        <p class="muted">${texts.lead}</p>
        ${done !== undefined && html`<p class="note good" role="status">${texts.done[done]}</p>`}
        ${problem?.note}
      </div>
      <section aria-labelledby="yours">
        <h2 id="yours">${texts.yours}</h2>
        ${
          passkeys.length === 0
            ? html`<p class="empty">${texts.none}</p>`
            : html`<ul class="list">
                  ${passkeys.map((passkey) => entry(view, action, passkey))}
                </ul>
                <p class="small muted">${texts.stay}</p>`
        }
        ${!hasPassword && html`<p class="note warn">${texts.noPassword}</p>`}
      </section>
      <section class="panel" aria-labelledby="add">
        <h2 id="add">${texts.add}</h2>
        ${making(view, props)}
      </section>
      <p><a href="/account">${texts.back}</a></p>
    </div>`,
  });
}

/** Without script, or in a browser without passkeys, a sentence says so in place of the button. */
function making(view: View, { action, options, name, problem }: PasskeysProps): Html {
  const texts = textsOf(view.language).passkeys;
  if (options === undefined) return html`<p>${texts.notHere}</p>`;
  const isName = problem === 'name' || problem === 'name-taken';
  // Without a name, it was refused for a passkey that is there.
  const state =
    name !== undefined && isName && html` aria-describedby="problem" aria-invalid="true"`;
  return html`<p>${texts.addText}</p>
    <p class="note warn" id="passkey-missing">${texts.missing}</p>
    ${form(
      view,
      action,
      { do: 'added' },
      html`<div class="field">
          <label for="name">${texts.name}</label>
          <input
            class="input"
            id="name"
            name="name"
            value="${name}"
            maxlength="100"
            autocomplete="off"
            required${state}
          />
        </div>
        ${passkeyButton({ way: 'create', options, text: texts.make, failed: texts.failed, primary: true })}`,
    )}`;
}

function entry(view: View, action: string, passkey: AccountPasskey): Html {
  const { id, name, since, lastUse, refused, current } = passkey;
  const all = textsOf(view.language);
  const texts = all.passkeys;
  const field = `name-${id}`;
  return html`<li>
    <div class="entry">
      <h3>${name}${current && html` <span class="tag">${texts.current}</span>`}</h3>
      ${facts([
        [all.account.made, moment(since, view)],
        [all.account.lastIssue, lastUse === undefined ? all.account.never : moment(lastUse, view)],
      ])}
      ${
        refused !== undefined &&
        html`<p class="note bad">${texts.copied(moment(refused, view))}</p>`
      }
      <details>
        <summary class="button slim">
          ${texts.rename}<span class="hidden">${texts.whose(name)}</span>
        </summary>
        ${form(
          view,
          action,
          { do: 'renamed', id },
          html`<div class="field">
              <label for="${field}">${texts.newName}</label>
              <input
                class="input"
                id="${field}"
                name="name"
                value="${name}"
                maxlength="100"
                autocomplete="off"
                required
              />
            </div>
            <button class="button slim">${texts.saveName}</button>`,
        )}
      </details>
    </div>
    ${endButton(view, { end: 'passkey', id }, texts.whose(name), texts.remove)}
  </li> `;
}
