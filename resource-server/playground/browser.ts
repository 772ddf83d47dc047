import { fieldOf, type PlannedRequest, type ReadAnswer } from './http1-message.ts';

/** The id of the playground's client at the authorization server. */
export const CLIENT = 'playground';

/** The name of the person who signs in there, and the person's group, which the spaces of the flows allow. */
export const SIGNS_IN = 'playground-person';
export const GROUP = 'playground';

/** The name and the random password of the person who signs in. No page shows the password. */
export interface Person {
  readonly name: string;
  readonly password: string;
}

/** Sends a request of the browser. `title`: the title of the leg. Undefined: no page shows the request. */
type Send = (title: string | undefined, request: PlannedRequest) => Promise<ReadAnswer>;

type Asked = Pick<PlannedRequest, 'method' | 'target' | 'content'> & Partial<PlannedRequest>;

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
}

/** The most requests on the pages of the authorization server. A sign-in and a consent need six. */
const MOST = 12;

/** A browser without scripts for the pages of the authorization server: it handles cookies, redirects, and forms. */
export class Browser {
  readonly #send: Send;
  readonly #issuer: string;
  readonly #person: Person;
  readonly #cookies = new Map<string, Cookie>();

  constructor(send: Send, issuer: string, person: Person) {
    this.#send = send;
    this.#issuer = issuer;
    this.#person = person;
  }

  /**
   * Opens an address, follows the answers, and signs the person in.
   * `decision`: how the person answers the question on the last page. `titles`: of the first request, of the following
   * requests at `/auth/` in order, and of the decision. Requests without a title are not shown. Resolves to the first
   * answer that is an error, leads to another origin, or follows the decision on a page without a redirect.
   */
  async open(
    target: string,
    decision: 'allow' | 'deny',
    titles: {
      readonly first?: string;
      readonly onward?: readonly string[];
      readonly decided?: string;
    },
  ): Promise<ReadAnswer> {
    const onward = [...(titles.onward ?? [])];
    let at = target;
    let answer = await this.#ask(titles.first, { method: 'GET', target });
    for (let left = MOST; left > 0; left -= 1) {
      const next = this.#leadsTo(answer);
      if (next !== undefined) {
        at = next;
        const title = next.startsWith('/auth/') ? onward.shift() : undefined;
        answer = await this.#ask(title, { method: 'GET', target: next });
        continue;
      }
      const form = answer.status === 200 ? formOf(answer.content) : undefined;
      if (form === undefined) return answer;
      const { isSignIn, action, fields } = form;
      const entered = isSignIn ? this.#person : { decision };
      const { pathname, search } = new URL(action || at, this.#issuer);
      answer = await this.#ask(isSignIn ? undefined : titles.decided, {
        method: 'POST',
        target: pathname + search,
        fields: [
          ['Content-Type', 'application/x-www-form-urlencoded'],
          ['Origin', this.#issuer],
        ],
        content: String(new URLSearchParams({ ...fields, ...entered })),
      });
    }
    return answer;
  }

  async #ask(title: string | undefined, request: Asked): Promise<ReadAnswer> {
    const cookies = [...this.#cookies.values()]
      .filter(({ path }) => request.target.startsWith(path))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
    const answer = await this.#send(title, {
      to: 'authorization',
      from: 'browser',
      ...request,
      fields: [
        ['Accept', 'text/html'],
        ...(request.fields ?? []),
        ...(cookies === '' ? [] : [['Cookie', cookies] as const]),
      ],
    });
    for (const [name, line] of answer.fields) {
      if (name.toLowerCase() === 'set-cookie') this.#keep(line);
    }
    return answer;
  }

  #keep(line: string): void {
    const [, name = '', value = ''] = /^([^=]*)=([^;]*)/.exec(line) ?? [];
    const [, path = '/'] = /;\s*path=([^;]*)/i.exec(line) ?? [];
    const key = `${name} ${path}`;
    // A server removes a cookie by a date in the past.
    if (/;\s*expires=Thu, 01 Jan 1970/i.test(line)) this.#cookies.delete(key);
    else this.#cookies.set(key, { name, value, path });
  }

  /**
   * Returns the target at this server to which an answer leads the browser. Undefined: the answer is a page, or leads
   * to another server.
   */
  #leadsTo(answer: ReadAnswer): string | undefined {
    const url = URL.parse(locationOf(answer), this.#issuer);
    const isHere = locationOf(answer) !== '' && url?.origin === this.#issuer;
    return isHere ? url.pathname + url.search : undefined;
  }
}

/**
 * Returns the address to which an answer leads a browser at once, by redirect or refresh. Empty: the answer leads
 * nowhere.
 */
export const locationOf = (answer: ReadAnswer): string =>
  fieldOf(answer, 'Location') || (/^0;url=(.+)$/.exec(fieldOf(answer, 'Refresh'))?.[1] ?? '');

/** Reads the form of a page with which a person signs in or decides. Undefined: the page has no form. */
function formOf(content: string) {
  for (const [, head = '', inner = ''] of content.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)) {
    const tags = [...inner.matchAll(/<(?:input|button)\b([^>]*)>/gs)].map(([, tag = '']) =>
      attributesOf(tag),
    );
    const has = (field: string) => tags.some(({ name }) => name === field);
    const isSignIn = has('password');
    if (!isSignIn && !has('decision')) continue;
    const fields = tags.filter(
      ({ type, checked }) => type === 'hidden' || (type === 'checkbox' && checked !== undefined),
    );
    return {
      isSignIn,
      action: attributesOf(head)['action'],
      fields: Object.fromEntries(fields.map(({ name = '', value = '' }) => [name, value])),
    };
  }
  return undefined;
}

const ENTITIES: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  amp: '&',
};

function attributesOf(tag: string): Partial<Record<string, string>> {
  const plain = (value: string) =>
    value.replaceAll(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => ENTITIES[name] ?? '');
  const found = tag.matchAll(/([\w-]+)(?:="([^"]*)")?/g);
  return Object.fromEntries([...found].map(([, name = '', value = '']) => [name, plain(value)]));
}
