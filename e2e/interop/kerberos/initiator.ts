import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROCESS = fileURLToPath(new URL('initiator-process.ts', import.meta.url));

/** Constants of npm `kerberos` and of RFC 2744 appendix A; the last one is from MS-KILE section 3.2.5.2. */
export const SPNEGO = 6;
export const KERBEROS = 9;
export const MUTUAL = 2;
export const THREE_MESSAGES = 0x1000;

export interface InitiatorOptions {
  /** Default: HTTP@localhost. */
  readonly service?: string;
  readonly mechanism?: number;
  readonly flags?: number;
}

/** A client that can also behave incorrectly. */
export class Initiator implements AsyncDisposable {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  #complaints = '';

  /** `env`: the environment of a person who has tickets. */
  constructor(env: NodeJS.ProcessEnv, options: InitiatorOptions = {}) {
    const { service = 'HTTP@localhost', mechanism = SPNEGO, flags = MUTUAL } = options;
    this.#child = spawn(process.execPath, [PROCESS, service, `${mechanism}`, `${flags}`], { env });
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    this.#child.stderr.on('data', (chunk: Buffer) => {
      this.#complaints += chunk.toString();
    });
  }

  /**
   * Returns the next message in base64, after the server's message; `complete`: the exchange is proved.
   * Rejects with the library's error if the library refuses the server's message.
   */
  async step(message = ''): Promise<{ readonly token: string; readonly complete: boolean }> {
    this.#child.stdin.write(`${message}\n`);
    const line = await this.#lines.next();
    if (line.done) throw new Error(this.#complaints);
    return JSON.parse(line.value) as { token: string; complete: boolean };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill();
    await once(this.#child, 'close');
  }
}

/** The first message of a new client, in base64. */
export async function ticket(env: NodeJS.ProcessEnv, options?: InitiatorOptions): Promise<string> {
  await using initiator = new Initiator(env, options);
  return (await initiator.step()).token;
}
