import { type Html, html } from '#shared/pages/html.ts';
import type { AdminField } from '../frame/admin-view.ts';
import type { View } from '../frame/view.ts';
import { textsOf } from '../texts/index.ts';

/** The field of a member, with what is wrong with it beside it. */
export function adminField(view: View, field: AdminField): Html {
  const { language } = view;
  const { name, kind, required, isUsual, problem } = field;
  // A choice has an answer at first: nobody has to be told that it may be left.
  const isMarked = !required && !isUsual && kind !== 'choice';
  const label = field.isEnglish ? html`<span lang="en">${field.label}</span>` : field.label;
  const texts = textsOf(language).admin;
  const id = `field-${name}`;
  const wrong = `${id}-problem`;
  const hint = `${id}-hint`;
  const form = [field.hint, kind === 'lines' && texts.lines].filter(Boolean).join(' ');
  const described = [
    ...(problem === undefined ? [] : [wrong]),
    ...(form === '' ? [] : [hint]),
  ].join(' ');
  const state = html`${described !== '' && html` aria-describedby="${described}"`}${
    problem !== undefined && html` aria-invalid="true"`
  }`;
  const said =
    problem !== undefined && html`<p class="note bad" id="${wrong}">${label}: ${problem}</p>`;
  if (kind === 'choices') {
    return html`<fieldset class="items asked">
      <legend>${label}</legend>
      <ul>
        ${field.options.map(
          ({ value, label: text }) =>
            html`<li>
              <label
                ><input
                  type="checkbox"
                  name="${name}"
                  value="${value}"
                  ${field.values.includes(value) && html` checked`}
                />
                <span>${text}</span></label
              >
            </li> `,
        )}
      </ul>
      ${said}
    </fieldset>`;
  }
  return html`<div class="field">
    <label for="${id}"
      >${label}${isMarked && html` <span class="small muted">(${texts.optional})</span>`}</label
    >
    ${INPUTS[kind](field, id, html`${state}${required && html` required`}`)}
    ${form !== '' && html`<p class="small muted" id="${hint}">${form}</p>`} ${said}
  </div>`;
}

/** One line of plain text. */
const input = ({ name, values }: AdminField, id: string, state: Html, more: Html) =>
  html`<input
    class="input"
    id="${id}"
    name="${name}"
    value="${values[0] ?? ''}"
    autocomplete="off"
    autocapitalize="none"
    spellcheck="false"
    ${more}${state}
  />`;

const INPUTS: Readonly<
  Record<
    Exclude<AdminField['kind'], 'choices'>,
    (field: AdminField, id: string, state: Html) => Html
  >
> = {
  text: (field, id, state) => input(field, id, state, html``),
  secret: ({ name }, id, state) =>
    html`<input
      class="input"
      id="${id}"
      name="${name}"
      type="password"
      autocomplete="new-password"
      ${state}
    />`,
  number: (field, id, state) => input(field, id, state, html` inputmode="numeric"`),
  lines: ({ name, values }, id, state) =>
    html`<textarea class="input" id="${id}" name="${name}" rows="3" spellcheck="false" ${state}>
${values.join('\n')}</textarea>`,
  choice: ({ name, values, options }, id, state) =>
    html`<select class="input" id="${id}" name="${name}" ${state}>
      ${options.map(
        ({ value, label }) =>
          html`<option value="${value}" ${values[0] === value && html` selected`}>
            ${label}
          </option> `,
      )}
    </select>`,
};
