/** The shared parts of the flows in a real browser: the pair, Chromium, a client, and people. */
import { randomUUID } from 'node:crypto';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { complaintsOf, focused, launchBrowser, newPerson } from '../parts/browser.ts';
import type { PersonOptions } from '../parts/browser.ts';
import { startCallback } from '../parts/callback.ts';
import type { Callback } from '../parts/callback.ts';
import type { Pair, PairOptions, Person } from '../pair/pair.ts';
import { addPeopleClient, CODE_GRANTS } from '../pair/people-client.ts';
import { relyingParty } from '../parts/relying-party.ts';
import type { RelyingParty, Tokens } from '../parts/relying-party.ts';
import { startFlowOn } from './flow.ts';
import type { Flow, StoreKind } from './flow.ts';

/** A person with a browser. */
export interface Visitor {
  readonly person: Person;
  readonly context: BrowserContext;
  readonly page: Page;
}

export class BrowserFlow implements AsyncDisposable {
  readonly flow: Flow;
  readonly browser: Browser;
  readonly callback: Callback;
  /** A client that may request every scope. */
  readonly app: RelyingParty;
  readonly #end: () => PromiseLike<void>;
  readonly #open: { context: BrowserContext; complaints: readonly string[] }[] = [];

  constructor(
    parts: Pick<BrowserFlow, 'flow' | 'browser' | 'callback' | 'app'>,
    end: () => PromiseLike<void>,
  ) {
    this.flow = parts.flow;
    this.browser = parts.browser;
    this.callback = parts.callback;
    this.app = parts.app;
    this.#end = end;
  }

  get pair(): Pair {
    return this.flow.pair;
  }

  /** Opens a browser for a new person, or with `person` for a known person. */
  async visit(options: PersonOptions & { person?: Person } = {}): Promise<Visitor> {
    const { person = await this.pair.addPerson(`person-${randomUUID()}`) } = options;
    const context = await newPerson(this.browser, options);
    this.#open.push({ context, complaints: await complaintsOf(context) });
    return { person, context, page: await context.newPage() };
  }

  /** Signs in at the client and allows everything; resolves to the tokens. */
  async tokens(
    { page, person }: Visitor,
    parameters: Readonly<Record<string, string>> = {},
    app = this.app,
  ): Promise<Tokens> {
    const asked = await app.ask(parameters);
    await page.goto(asked.url);
    if (await page.getByLabel('Password').isVisible()) await signIn(page, person);
    await decide(page, 'Allow');
    await page.waitForURL(`${this.callback.origin}/**`);
    return asked.tokens();
  }

  /** The status of a request for the documents with this token. */
  status({ access_token: token }: Tokens): Promise<number> {
    return this.pair.get(token);
  }

  /** Closes all browsers; resolves to the errors of their pages. */
  async close(): Promise<readonly string[]> {
    const closing = this.#open.splice(0);
    for (const { context } of closing) await context.close();
    return closing.flatMap(({ complaints }) => complaints);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }
}

export async function startBrowserFlow(
  kind: StoreKind,
  options: PairOptions = {},
): Promise<BrowserFlow> {
  await using parts = new AsyncDisposableStack();
  const flow = parts.use(await startFlowOn(kind, options));
  const callback = parts.use(await startCallback());
  const browser = await launchBrowser();
  parts.defer(() => browser.close());
  const app = await addApp(flow.pair, callback);
  const owned = parts.move();
  return new BrowserFlow({ flow, browser, callback, app }, () => owned.disposeAsync());
}

/** Registers a public client that may request every scope; `more`: further options of `client add`. */
export async function addApp(
  pair: Pair,
  callback: Callback,
  { redirectUri = callback.uri, more = [] }: { redirectUri?: string; more?: string[] } = {},
): Promise<RelyingParty> {
  const options = ['--public', ...CODE_GRANTS, '--redirect-uri', redirectUri, ...more];
  const { id } = await addPeopleClient(pair, ...options);
  return relyingParty(pair.issuer, id, callback);
}

/** Fills in the sign-in form and submits it. */
export async function signIn(
  page: Page,
  { name, password }: Pick<Person, 'name' | 'password'>,
): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Signs in by keyboard alone. The page has put the focus on the name. */
export async function signInByKeyboard(page: Page, { name, password }: Person): Promise<void> {
  await focused(page.getByLabel('Name')).waitFor();
  await page.keyboard.type(name);
  await page.keyboard.press('Tab');
  await page.keyboard.type(password);
  await page.keyboard.press('Enter');
}

export function decide(page: Page, decision: 'Allow' | 'Cancel' | 'Deny'): Promise<void> {
  return page.getByRole('button', { name: decision }).click();
}

/** Returns the heading of the page. */
export function title(page: Page): Promise<string> {
  return page.locator('h1').innerText();
}
