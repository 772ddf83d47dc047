import type { Clock } from './clock.ts';

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Structured log: an event in one word or dotted words, and flat fields. Never a secret, a token or a query. */
export interface Log {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

/** Writes one JSON object a line. */
export function jsonLog(write: (line: string) => void, clock: Clock, server: string): Log {
  const at = (level: string) => (event: string, fields?: LogFields) =>
    write(
      `${JSON.stringify({ time: new Date(clock.now()).toISOString(), level, server, event, ...fields })}\n`,
    );
  return { info: at('info'), warn: at('warn'), error: at('error') };
}

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };
