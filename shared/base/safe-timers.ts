/**
 * The timers of Node. An error of a callback would end the process, with every request in flight: a server sends it to
 * its log instead (`reportThrown`). Lint refuses the global ones in the code of the servers.
 */
type Report = (error: unknown) => void;

let report: Report = (error) => {
  throw error;
};

/** From now on errors of callbacks go there. */
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
