import { isLoopback } from '#shared/http/loopback.js';
import type { Shell } from '../arguments/command.ts';
import type { DeviceAuthorization, Progress } from './device-login.ts';
import { printable } from '#shared/base/printable.ts';
import { renderUnicodeCompact } from 'uqr';

/** Shows the code while a person approves elsewhere. Disposing of it clears the line that counts down. */
export interface LoginScreen extends Progress, Disposable {
  show(authorization: DeviceAuthorization): void;
}

const START_OF_LINE = '\r\u001b[2K';

/** Shows the code on standard output, with a QR code if it fits, and a line that counts down. */
export function terminalScreen(shell: Pick<Shell, 'out' | 'columns'>): LoginScreen {
  const say = (line: string) => shell.out(`${START_OF_LINE}${printable(line)}\n`);
  return {
    say,
    show(authorization) {
      const { verificationUri, verificationUriComplete = verificationUri } = authorization;
      const qr = qrLines(verificationUriComplete, shell.columns) ?? [];
      shell.out(qr.map((line) => `${line}\n`).join(''));
      for (const line of instructions(authorization)) say(line);
    },
    remaining: (seconds) =>
      shell.out(`${START_OF_LINE}Waiting for approval, ${minutes(seconds)} left`),
    [Symbol.dispose]: () => shell.out(START_OF_LINE),
  };
}

/** Shows the code on standard error, line by line, since a program reads standard output. */
export function plainScreen(shell: Pick<Shell, 'note' | 'clock'>): LoginScreen {
  return {
    say: (line) => shell.note(line),
    show(authorization) {
      for (const line of instructions(authorization)) shell.note(line);
      const seconds = Math.ceil((authorization.expiresAt - shell.clock.now()) / 1000);
      shell.note(`Waiting for approval, ${minutes(seconds)} at most`);
    },
    remaining: () => {},
    [Symbol.dispose]: () => {},
  };
}

function instructions(authorization: DeviceAuthorization): string[] {
  const { userCode, verificationUri, verificationUriComplete } = authorization;
  const { hostname } = new URL(verificationUri);
  return [
    `Open   ${verificationUriComplete ?? verificationUri}`,
    `Code   ${userCode}`,
    verificationUriComplete === undefined
      ? 'Enter the code there.'
      : 'Approve only if the page shows the same code.',
    ...(isLoopback(hostname)
      ? [`The link opens on this machine only: a phone cannot reach ${hostname}.`]
      : []),
  ];
}

/** `9:05` */
function minutes(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** Modules around the symbol (ISO/IEC 18004 section 5.3.8). */
const QUIET_ZONE = 4;
/** Characters; the symbol of a longer text is wider than terminals are. */
const LONGEST = 300;

/** White on black, from the colours that terminal themes do not change. */
const COLORS = '\u001b[38;5;231;48;5;16m';
const RESET = '\u001b[0m';

/**
 * The lines of a QR code in half blocks. They set their own colours, since a terminal with dark text on white would
 * otherwise show the code inverted. Undefined when it is wider than `columns`.
 */
export function qrLines(text: string, columns: number): string[] | undefined {
  if (text.length > LONGEST) return undefined;
  const lines = renderUnicodeCompact(text, { border: QUIET_ZONE }).split('\n');
  if ((lines[0]?.length ?? 0) > columns) return undefined;
  return lines.map((line) => COLORS + line + RESET);
}
