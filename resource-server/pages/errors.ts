import type { Log } from '#shared/base/log.ts';
import type { Answer } from '#shared/http/answer.ts';
import type { Brand } from '#shared/pages/document.ts';
import { languageOf } from '#shared/pages/language.ts';
import { prefersHtml } from '#shared/pages/prefers-html.ts';
import { errorAnswer } from '#shared/server/message/answer.ts';
import { noteError } from '#shared/server/front-door/front-door.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { shownId } from '#shared/server/message/request-log.ts';
import { errorPage } from './views/error.ts';

/** How errors of this server are told: to a person by a page, to a program by problem details. */
export interface Errors {
  /**
   * The answer itself, or a page with its status and fields. What is no error of ours is not touched. `id`: of the
   * line in the log, where that is not the front door's.
   */
  readonly told: <Given extends Answer<unknown>>(
    request: AnyRequest,
    answer: Given,
    id?: string,
  ) => Given | Answer;
  /** Of what was thrown, which goes to the log. */
  readonly failed: (request: AnyRequest, error: unknown) => Answer;
}

export function createErrors({ brand, log }: { readonly brand: Brand; readonly log: Log }): Errors {
  const told: Errors['told'] = (request, answer, id = shownId(request)) => {
    const { status, fields, detail } = answer;
    if (detail === undefined || !isForPerson(request)) return answer;
    const frame = { brand, language: languageOf(request.headers['accept-language']) };
    const page = errorPage(frame, { status, detail, id });
    return { ...page, fields: { ...fields, ...page.fields } };
  };
  return {
    told,
    failed(request, error) {
      noteError(request, error, log);
      return told(request, errorAnswer(error));
    },
  };
}

/** Those that a browser uses when somebody goes to an address or sends a form. */
const OF_PEOPLE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST']);

/** Scripts say that they are (Fetch Metadata section 2.2), and get what they always did. */
function isForPerson({ method = '', headers }: AnyRequest): boolean {
  const mode = headers['sec-fetch-mode'] ?? 'navigate';
  return OF_PEOPLE.has(method) && mode === 'navigate' && prefersHtml(headers.accept);
}
