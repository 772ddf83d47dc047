import { fetched } from './fetched.fixture.ts';
/** The state of a browser after a request. `url` is the one in the address bar, at the issuer. */
export interface Page {
  readonly status: number;
  readonly url: string;
  /** Includes the `Location` of a page from which the browser continues by itself. */
  readonly headers: Headers;
  readonly text: string;
  readonly forms: readonly Form[];
}

export interface Form {
  readonly action: string;
  readonly method: string;
  /** The fields that a form sends without a button: hidden fields, prefilled ones, ticked boxes. */
  readonly fields: readonly (readonly [name: string, value: string])[];
}

/** The values of a form to change: undefined removes the field, an array gives it several times. */
export type Changes = Readonly<Record<string, string | readonly string[] | undefined>>;

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  /** The unchanged field. */
  readonly line: string;
}

/**
 * A browser without script, with cookies, forms and redirects. The server listens at `base`, and has the origin
 * `issuer`. `open` ends at a redirect that leads elsewhere.
 */
export class TestBrowser {
  readonly base: string;
  readonly issuer: string;
  #cookies: Cookie[] = [];
  /** Fields that every request has. */
  fields: Record<string, string> = { accept: 'text/html', 'user-agent': 'Test Browser' };

  constructor(base: string, issuer: string) {
    this.base = base;
    this.issuer = issuer;
  }

  /** Follows redirects. If one leaves the issuer, that answer is the page. */
  async open(url: string): Promise<Page> {
    return this.follow(await this.request('GET', url));
  }

  /** Sends a form of the page (by its `action`, or the first), with changed values, and follows redirects. */
  async submit(page: Page, changes: Changes = {}, action?: string): Promise<Page> {
    return this.follow(await this.send(page, changes, action));
  }

  /** Sends a form without following redirects. */
  send(page: Page, changes: Changes = {}, action?: string): Promise<Page> {
    const form = page.forms.find((one) => action === undefined || one.action === action);
    if (form === undefined) throw new Error(`no such form on ${page.url}: ${page.text}`);
    const filled = changed(form.fields, changes);
    const target = new URL(form.action, page.url);
    if (form.method === 'post') return this.request('POST', target.href, filled);
    target.search = filled.toString();
    return this.request('GET', target.href);
  }

  async follow(page: Page): Promise<Page> {
    const location = page.headers.get('location');
    if (location === null) return page;
    const next = new URL(location, page.url);
    return next.origin === this.issuer ? this.open(next.href) : page;
  }

  /** Sends one request and follows no redirect. `fields` are added to those of the browser; '' omits one. */
  async request(
    method: string,
    url: string,
    form?: URLSearchParams | string,
    fields: Readonly<Record<string, string>> = {},
  ): Promise<Page> {
    const target = new URL(url, this.issuer);
    const all = {
      ...this.fields,
      ...(form !== undefined && {
        'content-type': 'application/x-www-form-urlencoded',
        origin: this.issuer,
      }),
      cookie: this.#cookieFor(target.pathname),
      ...fields,
    };
    const response = await fetched(this.base + target.pathname + target.search, {
      method,
      headers: Object.entries(all).filter(([, value]) => value !== ''),
      ...(form !== undefined && { body: form.toString() }),
    });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    const text = await response.text();
    const { status } = response;
    const headers = new Headers(response.headers);
    const goesOn = /^0;url=(.+)$/.exec(headers.get('refresh') ?? '')?.[1];
    if (goesOn !== undefined) headers.set('location', goesOn);
    return { status, url: target.href, headers, text, forms: formsOf(text) };
  }

  /** The cookies as they were set: name, value and the whole field. */
  get cookies(): readonly Cookie[] {
    return this.#cookies;
  }

  /** Copies cookies of another browser: all, or those whose name matches. */
  plant(other: { readonly cookies: readonly Pick<Cookie, 'name' | 'line'>[] }, name = /./): void {
    for (const { line } of other.cookies.filter((one) => name.test(one.name))) this.#keep(line);
  }

  #keep(line: string): void {
    const [pair = '', ...attributes] = line.split('; ');
    const [name = '', value = ''] = pair.split(/=(.*)/s);
    const attribute = (key: string) =>
      attributes.find((one) => one.toLowerCase().startsWith(`${key}=`))?.slice(key.length + 1);
    const path = attribute('path') ?? '/';
    const ended = new Date(attribute('expires') ?? '9999').getTime() <= Date.now();
    this.#cookies = this.#cookies.filter((one) => one.name !== name || one.path !== path);
    if (!ended) this.#cookies.push({ name, value, path, line });
  }

  /** RFC 6265 section 5.4: the cookies whose path matches, the longest path first. */
  #cookieFor(path: string): string {
    return this.#cookies
      .filter((one) => path === one.path || path.startsWith(one.path.replace(/\/?$/, '/')))
      .toSorted((a, b) => b.path.length - a.path.length)
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
  }
}

function changed(fields: Form['fields'], changes: Changes): URLSearchParams {
  const kept = fields.filter(([name]) => !Object.hasOwn(changes, name));
  const added = Object.entries(changes).flatMap(([name, values]) =>
    [values ?? []].flat().map((value) => [name, value] as const),
  );
  const params = new URLSearchParams();
  for (const [name, value] of [...kept, ...added]) params.append(name, value);
  return params;
}

function formsOf(text: string): readonly Form[] {
  // Each page of administrators has a search, which is not what the page is for.
  return [...text.matchAll(/<form\b(?![^>]* role="search")([^>]*)>(.*?)<\/form>/gs)].map(
    ([, head = '', content = '']) => {
      const { action = '', method = 'get' } = attributesOf(head);
      const fields = [...content.matchAll(/<input\b([^>]*)>/gs)]
        .map(([, input = '']) => attributesOf(input))
        .filter(({ name, disabled }) => name !== undefined && disabled === undefined)
        .filter(({ type, checked }) => type !== 'checkbox' || checked !== undefined)
        .map(({ name = '', value = '' }) => [name, value] as const);
      const texts = [...content.matchAll(/<textarea\b([^>]*)>\n?([^<]*)<\/textarea>/gs)]
        .map(
          ([, area = '', typed = '']) =>
            [attributesOf(area)['name'] ?? '', unescape(typed)] as const,
        )
        .filter(([, typed]) => typed !== '');
      return { action, method, fields: [...fields, ...texts] };
    },
  );
}

function attributesOf(tag: string): Partial<Record<string, string>> {
  const found = tag.matchAll(/([\w-]+)(?:="([^"]*)")?/g);
  return Object.fromEntries([...found].map(([, name = '', value = '']) => [name, unescape(value)]));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
};

function unescape(value: string): string {
  return value.replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (entity) => ENTITIES[entity] ?? entity);
}
