import { isLoopback } from '#shared/http/loopback.js';
import type { Shell } from '../arguments/command.ts';
import type { DeviceAuthorization, Progress } from './device-login.ts';
import { qrLines } from './qr.ts';
import { printable } from '#shared/base/printable.ts';

/** Shows the code while a person approves elsewhere. Disposing of it clears the line that counts down. */
export interface LoginScreen extends Progress, Disposable {
  show(authorization: DeviceAuthorization): void;
}

const START_OF_LINE = '\r\u001b[2K';

/** On standard output, with a QR code where there is room, and a line that counts down. */
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

/** On standard error, line by line: standard output is read by a program. */
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
