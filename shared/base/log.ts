import type { Clock } from './clock.ts';
import type { LogFields } from './log-fields.ts';

/** Structured log: an event in one word or dotted words, and flat fields (log-fields.ts). */
export interface Log {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

/** Matches characters that JSON allows and a terminal executes: DEL and C1 controls (ECMA-48 section 5.3). */
const CONTROL = /[\x7f-\x9f]/;
const CONTROLS = new RegExp(CONTROL, 'g');

const escaped = (control: string) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Writes a line. `urgent`: the reader of the log must get this line and all earlier lines at once. */
export type WriteLine = (line: string, urgent: boolean) => void;

/**
 * Creates a log that writes one JSON object per line, in printable characters only. All levels except `info` are
 * urgent. `worker`: the worker's number if there are several.
 */
export function jsonLog(write: WriteLine, clock: Clock, server: string, worker?: number): Log {
  const which = JSON.stringify(server) + (worker === undefined ? '' : `,"worker":${worker}`);
  let second = Number.NaN;
  let untilSecond = '';
  /** Returns the time like `Date.toISOString`, which is called once a second. */
  function time(): string {
    const now = Math.floor(clock.now());
    const milliseconds = ((now % 1000) + 1000) % 1000;
    if (now - milliseconds !== second) {
      second = now - milliseconds;
      untilSecond = new Date(second).toISOString().slice(0, -'000Z'.length);
    }
    return `${untilSecond}${String(milliseconds).padStart(3, '0')}Z`;
  }

  const at = (level: string) => {
    const [same, urgent] = [`","level":"${level}","server":${which},"event":`, level !== 'info'];
    return (event: string, fields: LogFields = {}) => {
      const given = JSON.stringify(fields);
      const rest = CONTROL.test(given) ? given.replaceAll(CONTROLS, escaped) : given;
      const begin = `{"time":"${time()}${same}${JSON.stringify(event)}`;
      write(rest === '{}' ? `${begin}}\n` : `${begin},${rest.slice(1)}\n`, urgent);
    };
  };
  return { info: at('info'), warn: at('warn'), error: at('error') };
}

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };
