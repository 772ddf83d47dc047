/** @needs firefox-esr */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { temporaryFolder } from './temporary-folder.ts';

type Params = Readonly<Record<string, unknown>>;

/** A message of WebDriver BiDi (section 3.4). */
interface Answer {
  readonly id?: number | null;
  readonly type: 'success' | 'error' | 'event';
  readonly method?: string;
  readonly result?: Params;
  readonly error?: string;
  readonly message?: string;
}

const LOADED = 'browsingContext.load';
/** A key by its code point (WebDriver section 17.4.2). */
const CONTROL = '\uE009';
/** Milliseconds for an answer or a page, since a call whose page has ended may never get an answer. */
const PATIENCE = 60_000;

interface Node {
  readonly sharedId: string;
}

/** Debian's Firefox without JavaScript, with one tab, driven by WebDriver BiDi. */
export class Firefox implements AsyncDisposable {
  readonly #socket: WebSocket;
  readonly #end: () => Promise<void>;
  readonly #waiting = new Map<number, PromiseWithResolvers<Answer>>();
  #onLoad: (() => void) | undefined;
  #sent = 0;
  #tab = '';

  private constructor(socket: WebSocket, end: () => Promise<void>) {
    this.#socket = socket;
    this.#end = end;
    socket.addEventListener('message', ({ data }) => {
      const answer = JSON.parse(String(data)) as Answer;
      if (typeof answer.id === 'number') this.#waiting.get(answer.id)?.resolve(answer);
      if (answer.method === LOADED) this.#onLoad?.();
    });
    socket.addEventListener('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('Firefox has ended'));
    });
  }

  static async start(): Promise<Firefox> {
    const folder = await temporaryFolder();
    await writeFile(join(folder.path, 'user.js'), 'user_pref("javascript.enabled", false);\n');
    const args = ['--headless', '--no-remote', '--profile', folder.path];
    const browser = spawn('firefox-esr', [...args, '--remote-debugging-port', '0'], {
      env: { ...process.env, HOME: folder.path },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let address: string | undefined;
    for await (const line of createInterface({ input: browser.stderr })) {
      address = /BiDi listening on (ws:\S+)/.exec(line)?.[1];
      if (address !== undefined) break;
    }
    browser.stderr.resume();
    const socket = new WebSocket(`${address}/session`);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', () => reject(new Error(`nothing listens at ${address}`)));
    });
    const firefox = new Firefox(socket, async () => {
      socket.close();
      if (browser.exitCode === null && browser.signalCode === null) {
        const ended = once(browser, 'exit');
        browser.kill();
        await ended;
      }
      await folder[Symbol.asyncDispose]();
    });
    await firefox.#send('session.new', { capabilities: {} });
    await firefox.#send('session.subscribe', { events: [LOADED] });
    const { contexts } = await firefox.#send('browsingContext.getTree', {});
    [{ context: firefox.#tab }] = contexts as [{ context: string }];
    return firefox;
  }

  /** Opens a URL and waits until the page has loaded. */
  async open(url: string): Promise<void> {
    await this.#send('browsingContext.navigate', { context: this.#tab, url, wait: 'complete' });
  }

  /** The visible text of the page. */
  async text(): Promise<string> {
    const target = { context: this.#tab, sandbox: 'test' };
    const expression = 'document.body.innerText';
    const evaluated = { expression, target, awaitPromise: false };
    const { result } = await this.#send('script.evaluate', evaluated);
    return String((result as { value?: unknown } | undefined)?.value);
  }

  /** Types into the named field, and replaces its content. */
  async type(field: string, text: string): Promise<void> {
    await this.#do('focus', { type: 'css', value: `[name="${field}"]:not([type="hidden"])` });
    const all = [{ type: 'keyDown', value: CONTROL }, ...stroke('a')];
    await this.#type([
      ...all,
      { type: 'keyUp', value: CONTROL },
      ...Array.from(text).flatMap(stroke),
    ]);
  }

  /** Clicks a button or a link, and waits until a page has loaded. */
  async press(role: 'button' | 'link', name: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onLoad = resolve;
    const pressed = this.#do('click', { type: 'accessibility', value: { role, name } });
    // Sometimes Firefox never answers a call whose page is left meanwhile.
    const loaded = Promise.race([promise, pressed.then(() => promise)]);
    await orLate(loaded, `${name} leads nowhere`);
  }

  /** Opens the first disclosure of the page. */
  async unfold(): Promise<void> {
    await this.#do('click', { type: 'css', value: 'summary' });
  }

  /** A screenshot as PNG in base64. */
  async screenshot(): Promise<string> {
    const { data } = await this.#send('browsingContext.captureScreenshot', { context: this.#tab });
    return String(data);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }

  async #do(what: 'focus' | 'click', locator: Params): Promise<void> {
    const found = await this.#send('browsingContext.locateNodes', { context: this.#tab, locator });
    const [element] = found['nodes'] as readonly Node[];
    if (element === undefined) {
      throw new Error(`there is no ${JSON.stringify(locator)} in: ${await this.text()}`);
    }
    await this.#send('script.callFunction', {
      functionDeclaration: `(element) => element.${what}()`,
      arguments: [{ sharedId: element.sharedId }],
      target: { context: this.#tab, sandbox: 'test' },
      awaitPromise: false,
    });
  }

  async #type(actions: readonly Params[]): Promise<void> {
    const keyboard = { type: 'key', id: 'keyboard', actions };
    await this.#send('input.performActions', { context: this.#tab, actions: [keyboard] });
  }

  async #send(method: string, params: Params): Promise<Params> {
    if (this.#socket.readyState !== WebSocket.OPEN) throw new Error('Firefox has ended');
    this.#sent += 1;
    const id = this.#sent;
    const waiting = Promise.withResolvers<Answer>();
    this.#waiting.set(id, waiting);
    this.#socket.send(JSON.stringify({ id, method, params }));
    const late = `${method} ${JSON.stringify(params)}: Firefox does not answer`;
    const { type, result, error, message } = await orLate(waiting.promise, late).finally(() =>
      this.#waiting.delete(id),
    );
    if (type === 'error') throw new Error(`${method}: ${error}: ${message}`);
    return result ?? {};
  }
}

const stroke = (value: string) => [
  { type: 'keyDown', value },
  { type: 'keyUp', value },
];

/** Rejects with `message` if the work takes longer than `PATIENCE`. */
async function orLate<T>(work: Promise<T>, message: string): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const late = setTimeout(() => reject(new Error(message)), PATIENCE);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(late);
  }
}
