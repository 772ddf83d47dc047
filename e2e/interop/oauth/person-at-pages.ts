import { TestBrowser } from '../../../authz-server/integration/browser.fixture.ts';
import type { Changes, Page } from '../../../authz-server/integration/browser.fixture.ts';
import type { Pair, Person } from '../../pair/pair.ts';

type Decision = 'allow' | 'deny';

/** The highest number of pages with a question on the way to a client. */
const MOST_PAGES = 4;

/** A person who answers the pages' questions, in a separate browser without JavaScript. */
export class PersonAtPages {
  readonly #browser: TestBrowser;
  readonly #signIn: (page: Page) => Changes;

  /**
   * `base`: the address of the server, if it differs from the issuer. `signIn`: the fields with which the
   * person answers a sign-in page; default: name and password.
   */
  constructor(
    { issuer, base = issuer }: Pick<Pair, 'issuer'> & { readonly base?: string },
    { name, password }: Person,
    signIn?: (page: Page) => Changes,
  ) {
    this.#browser = new TestBrowser(base, issuer);
    this.#signIn = signIn ?? (() => ({ name, password }));
  }

  /** Opens the URL, signs in if asked, and decides; resolves to the last page. */
  async open(url: URL | string, decision: Decision = 'allow'): Promise<Page> {
    const answers = this.#answers(decision);
    const trail: string[] = [];
    let page = await this.#browser.open(String(url));
    for (let asked = 0; asked < MOST_PAGES; asked += 1) {
      const action = page.forms
        .filter(({ method }) => method === 'post')
        .map((form) => form.action)
        .find((path) => lastSegment(path) in answers);
      if (action === undefined) return page;
      trail.push(`${page.status} ${/<title>([^<]*)/.exec(page.text)?.[1]}`);
      page = await this.#browser.submit(page, answers[lastSegment(action)]?.(page), action);
    }
    throw new Error(`${page.url} asks again, after ${trail.join(', ')}: ${page.text}`);
  }

  /** Opens the URL of a waiting client; resolves to the URL to which the browser is finally sent. */
  async answer(url: URL | string, decision?: Decision): Promise<URL> {
    const page = await this.open(url, decision);
    const location = page.headers.get('location');
    if (location === null) throw new Error(`no redirect from ${page.url}: ${page.text}`);
    return new URL(location);
  }

  /** Returns the fields of each form, by the last segment of the form's action. */
  #answers(decision: Decision): Readonly<Record<string, (page: Page) => Changes>> {
    return {
      'sign-in': this.#signIn,
      login: this.#signIn,
      consent: () => ({ decision }),
      device: () => ({ decision }),
      confirm: () => ({ logout: 'yes' }),
    };
  }
}

const lastSegment = (path: string) => path.slice(path.lastIndexOf('/') + 1);
