import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';
import { systemClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { selfSigned } from '#shared/server/listen/self-signed.ts';

export const SMTP_USER = { user: 'countersign', password: 'that of the mail server' };

export interface Received {
  readonly to: string;
  /** The header fields and the text. */
  readonly content: string;
  /** True if TLS protected the message, and the AUTH before it. */
  readonly secure: boolean;
  readonly auth: string | undefined;
}

/** A mail server on loopback, with implicit TLS or STARTTLS, and AUTH PLAIN. */
export interface TestMailServer extends AsyncDisposable {
  /** The setting `mail` for this server. */
  readonly mail: Readonly<Record<string, unknown>>;
  readonly received: readonly Received[];
  /** Every command as received, with its protection. */
  readonly commands: readonly string[];
  /** The number of connections so far. */
  greetings(): number;
  /** Answers that replace the server's own, by the first word of the command; `.` is the end of a message. */
  answers: Readonly<Record<string, string>>;
}

export async function startMailServer(tls: 'implicit' | 'starttls'): Promise<TestMailServer> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-mail-'));
  const certificate = selfSigned(['localhost'], systemClock, systemRandom);
  const [ca, passwordFile] = [join(folder, 'ca.pem'), join(folder, 'password')];
  await writeFile(ca, certificate.cert);
  await writeFile(passwordFile, `${SMTP_USER.password}\n`);
  const received: Received[] = [];
  const commands: string[] = [];
  let connections = 0;
  const sockets = new Set<Socket>();
  const parts = { answers: {} as Readonly<Record<string, string>> };

  function serve(socket: Socket, secure: boolean, greets = true): void {
    sockets.add(socket);
    let [text, to, auth]: [string, string, string | undefined] = ['', '', undefined];
    let inData = false;
    const say = (line: string): void => void socket.write(`${line}\r\n`);
    const own: Readonly<Record<string, (line: string) => string>> = {
      EHLO: () => `250-localhost\r\n250-AUTH PLAIN\r\n250 ${secure ? '8BITMIME' : 'STARTTLS'}`,
      AUTH: (line) => ((auth = line.slice('AUTH PLAIN '.length)), '235 ok'),
      MAIL: () => '250 ok',
      RCPT: (line) => ((to = /<(.*)>/.exec(line)?.[1] ?? ''), '250 ok'),
      DATA: () => ((inData = true), '354 go on'),
      QUIT: () => '221 bye',
    };
    const take = (line: string): void => {
      const [verb = ''] = line.split(' ');
      commands.push(`${secure ? 'TLS' : 'clear'} ${verb}`);
      const answer = parts.answers[verb];
      if (answer !== undefined) return say(answer);
      if (verb !== 'STARTTLS') return say(own[verb]?.(line) ?? '502 what?');
      socket.removeAllListeners('data');
      socket.write('220 go on\r\n', () =>
        serve(new TLSSocket(socket, { isServer: true, ...certificate }), true, false),
      );
    };
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      for (;;) {
        const end = inData ? '\r\n.\r\n' : '\r\n';
        const at = text.indexOf(end);
        if (at < 0) return;
        const part = text.slice(0, at);
        text = text.slice(at + end.length);
        if (inData) {
          inData = false;
          const answer = parts.answers['.'];
          if (answer === undefined) received.push({ to, content: part, secure, auth });
          say(answer ?? '250 taken');
        } else {
          take(part);
        }
      }
    });
    if (greets) connections += 1;
    if (greets) say(parts.answers['greeting'] ?? '220 localhost');
  }

  const server: Server =
    tls === 'implicit'
      ? createTlsServer(certificate, (socket) => serve(socket, true))
      : createServer((socket) => serve(socket, false));
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const { user } = SMTP_USER;
  return Object.assign(parts, {
    mail: { host: 'localhost', port, tls, ca, user, passwordFile, from: 'accounts@example.com' },
    received,
    commands,
    greetings: () => connections,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      // Some tests end the server early, too.
      await rm(folder, { recursive: true, force: true });
    },
  });
}
