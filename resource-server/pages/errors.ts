import type { Log } from '#shared/base/log.ts';
import type { Config } from '#shared/config/schema.ts';
import { type Answer, withReason } from '#shared/http/answer.ts';
import type { Brand } from '#shared/pages/document.ts';
import { languageOf } from '#shared/pages/language.ts';
import { prefersHtml } from '#shared/pages/prefers-html.ts';
import { errorAnswer } from '#shared/server/message/answer.ts';
import { noteError } from '#shared/server/front-door/front-door.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { shownId } from '#shared/server/message/request-log.ts';
import { errorPage, type Ways } from './views/error.ts';

/** Presents errors of this server: to a person as a page, to a program as problem details. */
export interface Errors {
  /**
   * Returns the answer unchanged, or as a page with its status and fields. Only this server's own errors become pages.
   * `id`: the id of the log line, if another one than the front door's. In development the answer also has its reason.
   */
  readonly told: <Given extends Answer<unknown>>(
    request: AnyRequest,
    answer: Given,
    id?: string,
  ) => Given | Answer;
  /** Returns the answer unchanged or, in development, with its reason, and never as a page. */
  readonly ofMode: <Given extends Answer<unknown>>(answer: Given) => Given | Answer;
  /** Returns the answer to a thrown error, which is logged. */
  readonly failed: (request: AnyRequest, error: unknown) => Answer;
}

export interface ErrorsParts {
  readonly brand: Brand;
  readonly log: Log;
  /** Whether answers have their reason, which could help an attacker. */
  readonly development: boolean;
  readonly ways: Ways;
}

export function createErrors({ brand, log, development, ways }: ErrorsParts): Errors {
  const ofMode: Errors['ofMode'] = (answer) => (development ? withReason(answer) : answer);
  const told: Errors['told'] = (request, answer, given) => {
    const { status, fields, detail, reason } = answer;
    if (detail === undefined) return answer;
    if (!isForPerson(request)) return ofMode(answer);
    const frame = { brand, language: languageOf(request.headers['accept-language']) };
    const shown = development && reason !== undefined ? `${detail}\n${reason}` : detail;
    const page = errorPage(frame, { status, detail: shown, id: given ?? shownId(request), ways });
    return { ...page, fields: { ...fields, ...page.fields } };
  };
  return {
    told,
    ofMode,
    failed(request, error) {
      noteError(request, error, log);
      return told(request, errorAnswer(error));
    },
  };
}

/** Addresses for people without access. A space at `/` takes the place of the home page. */
export function waysFrom({
  issuer,
  resource,
  spaces,
}: Pick<Config, 'issuer' | 'resource' | 'spaces'>): Ways {
  const home = `${resource}/`;
  return {
    home: spaces.some(({ url }) => url === home || url === resource) ? undefined : home,
    account: `${issuer}/account`,
  };
}

/** The methods that browsers use for navigation and forms. */
const OF_PEOPLE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST']);

/**
 * True if the client is a person's browser. Scripts identify themselves (Fetch Metadata section 2.2), and get problem
 * details.
 */
function isForPerson({ method = '', headers }: AnyRequest): boolean {
  const mode = headers['sec-fetch-mode'] ?? 'navigate';
  return OF_PEOPLE.has(method) && mode === 'navigate' && prefersHtml(headers.accept);
}
