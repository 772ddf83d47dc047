const VERIFY = /^(?:https?:\/\/[^/?]+)?\/verify(?:\?|$)/i;

/** Whether a target is that of a request to `/verify`. */
export const isVerify = (target: string): boolean => VERIFY.test(target);

/** The methods of clients cannot cause a 405, since a proxy asks by GET. */
const STAY: ReadonlySet<number> = new Set([401, 403, 405]);

/**
 * Returns the status with which `/verify` reports an error. Nginx's `auth_request` knows 401 and 403 as refusals, and
 * makes 500 of any other 4xx. So 403 replaces every error that a client behind a proxy could cause, such as a malformed
 * field. The reason is in the log.
 */
export function verdictStatus(status: number): number {
  return status < 400 || status >= 500 || STAY.has(status) ? status : 403;
}
