const VERIFY = /^(?:https?:\/\/[^/?]+)?\/verify(?:\?|$)/i;

/** Whether that is the target of a request to `/verify`. */
export const isVerify = (target: string): boolean => VERIFY.test(target);

/** No client of a proxy causes a 405: the question is a GET, whatever is asked for. */
const STAY: ReadonlySet<number> = new Set([401, 403, 405]);

/**
 * Returns the status by which `/verify` tells an error: nginx's `auth_request` knows 401 and 403 as refusals, and makes 500
 * of any other 4xx. So 403 stands for all that a client behind a proxy could cause, such as a field that is malformed or
 * too long; the reason is in the log.
 */
export function verdictStatus(status: number): number {
  return status < 400 || status >= 500 || STAY.has(status) ? status : 403;
}
