/**
 * The timers of Node, with errors of callbacks handled. Such an error would otherwise end the process with every
 * request in flight. A server logs it instead (`reportThrown`). Lint refuses the global timers in the code of the
 * servers.
 */
type Report = (error: unknown) => void;

let report: Report = (error) => {
  throw error;
};

/** Sends errors of callbacks to this function from now on. */
export function reportThrown(to: Report): void {
  report = to;
}

type Callback<Given extends unknown[]> = (...given: Given) => void;

const safe =
  <Given extends unknown[]>(callback: Callback<Given>): Callback<Given> =>
  (...given) => {
    try {
      callback(...given);
    } catch (error) {
      report(error);
    }
  };

export const setTimeout = <Given extends unknown[]>(
  callback: Callback<Given>,
  milliseconds: number,
  ...given: Given
): NodeJS.Timeout => globalThis.setTimeout(safe(callback), milliseconds, ...given);

export const setInterval = (callback: () => void, milliseconds: number): NodeJS.Timeout =>
  globalThis.setInterval(safe(callback), milliseconds);

export const setImmediate = (callback: () => void): NodeJS.Immediate =>
  globalThis.setImmediate(safe(callback));

export const nextTick = (callback: () => void): void => process.nextTick(safe(callback));
