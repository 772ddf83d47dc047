import { HttpError, methodNotAllowed, notFound, notImplemented } from './answer.ts';
import { allow } from './methods.ts';

/** The methods that exist. */
export interface MethodsThere {
  /** The methods of the whole server; absent: they were checked before. */
  readonly known?: ReadonlySet<string>;
  /** The methods of this address; absent: they are checked later. */
  readonly methods?: readonly string[];
  /** The resource is missing: the methods are the methods that can create it. */
  readonly missing?: boolean;
  /** Makes another error than `methodNotAllowed`, by the value of Allow. */
  readonly told?: (allowed: string) => string;
}

/**
 * THE rules of 501, 404 and 405: throws HttpError for a method that cannot be done there. Allow (`allow` in methods.ts)
 * has the methods that are there, HEAD with GET, and OPTIONS always, as the space's `methods` narrow them (`accepted`
 * in resource-server/space/options.ts). `known` is asked in resource-server/steps/methods.ts, `methods` where the
 * resource is known.
 */
export function checkMethod(method: string, { known, methods, missing, told }: MethodsThere): void {
  // RFC 9110 section 15.6.2: no address has it.
  if (known?.has(method) === false) throw notImplemented(method);
  if (methods === undefined || methods.includes(method)) return;
  // Section 15.5.5: the resource is missing, and the method does not create it.
  if (missing) throw notFound();
  // Section 15.5.6: the resource has other methods.
  throw methodNotAllowed(allow(methods), told);
}

/** The rules of 501 of a proxy, which forwards methods that it does not know. */
export function checkForwardable(method: string): void {
  // node:http would send them in upper case, which are other methods than the checked ones.
  if (method !== method.toUpperCase()) {
    throw new HttpError(501, 'Methods are in upper case (RFC 9110 section 9.1).');
  }
  if (method === 'PRI') throw new HttpError(501, 'PRI is no request (RFC 9113 section 3.4).');
}
