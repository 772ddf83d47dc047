import { randomUUID } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { newPerson } from '../../../parts/browser.ts';
import type { Pair, Person } from '../../../pair/pair.ts';
import type { AppServer } from './app-server.ts';

/** A new person with a separate browser, at a single-page application. */
export class Visitor implements AsyncDisposable {
  readonly person: Person;
  readonly page: Page;
  readonly #app: AppServer;

  constructor(person: Person, page: Page, app: AppServer) {
    this.person = person;
    this.page = page;
    this.#app = app;
  }

  static async arrive(pair: Pair, browser: Browser, app: AppServer): Promise<Visitor> {
    const person = await pair.addPerson(`person-${randomUUID()}`);
    const page = await (await newPerson(browser)).newPage();
    return new Visitor(person, page, app);
  }

  /**
   * Signs in: from the application through the pages and back, until the application has loaded. `answer`:
   * the person's action at the sign-in page; default: types name and password.
   */
  async signIn(answer = () => this.typePassword()): Promise<void> {
    const { page } = this;
    await page.goto(this.#app.origin);
    await this.#loaded();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await answer();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForURL(`${this.#app.origin}/callback?*`);
    await this.#loaded();
  }

  /** Types name and password at the sign-in page. */
  async typePassword(): Promise<void> {
    const { page, person } = this;
    await page.getByLabel('Name').fill(person.name);
    await page.getByLabel('Password').fill(person.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
  }

  /** Signs out from the application, and returns to it. */
  async signOut(): Promise<void> {
    await this.page.getByRole('button', { name: 'Sign out' }).click();
    await this.page.getByRole('heading', { name: 'Sign out?' }).waitFor();
    await this.page.getByRole('main').getByRole('button', { name: 'Sign out' }).click();
    await this.page.waitForURL(`${this.#app.origin}/signed-out**`);
    await this.#loaded();
  }

  /** Calls a method of `app` in the page, and resolves or rejects as the method does. */
  async call<T>(method: string, ...args: readonly unknown[]): Promise<T> {
    return this.page.evaluate<T>(calling(method, args));
  }

  /** The OAuth error (RFC 6749 section 5.2) with which a method of `app` rejects. */
  async refusal(method: string, ...args: readonly unknown[]): Promise<string> {
    const call = calling(method, args);
    return this.page.evaluate<string>(`${call}.then(() => 'none', ({ error }) => error)`);
  }

  async #loaded(): Promise<void> {
    await this.page.waitForFunction('globalThis.app !== undefined');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.context().close();
  }
}

const calling = (method: string, args: readonly unknown[]) =>
  `app.${method}(${args.map((arg) => JSON.stringify(arg)).join(', ')})`;
