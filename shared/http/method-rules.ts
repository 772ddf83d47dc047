import { HttpError, methodNotAllowed, notFound, notImplemented } from './answer.ts';
import { allow } from './methods.ts';

/** The methods that are supported at an address. */
export interface MethodsThere {
  /** The methods of the whole server; absent if they were checked before. */
  readonly known?: ReadonlySet<string>;
  /** The methods of this address; absent if they are checked later. */
  readonly methods?: readonly string[];
  /** True if the resource is missing; `methods` are then the methods that can create it. */
  readonly missing?: boolean;
  /** Creates an error that replaces `methodNotAllowed`, from the value of Allow. */
  readonly told?: (allowed: string) => string;
}

/**
 * THE rules of 501, 404 and 405: throws HttpError for a method that the address does not support. Allow (`allow` in
 * methods.ts) has the supported methods, HEAD with GET, and OPTIONS always; the space's `methods` restrict them
 * (`accepted` in resource-server/space/options.ts). `known` is checked in resource-server/steps/methods.ts, `methods`
 * where the resource is known.
 */
export function checkMethod(method: string, { known, methods, missing, told }: MethodsThere): void {
  // RFC 9110 section 15.6.2: no address has the method.
  if (known?.has(method) === false) throw notImplemented(method);
  if (methods === undefined || methods.includes(method)) return;
  // Section 15.5.5: the resource is missing, and the method does not create it.
  if (missing) throw notFound();
  // Section 15.5.6: the resource has other methods.
  throw methodNotAllowed(allow(methods), told);
}

/** The rules of 501 at a proxy, which also forwards unknown methods. */
export function checkForwardable(method: string): void {
  // node:http would send such methods in upper case, which are other methods than the checked ones.
  if (method !== method.toUpperCase()) {
    throw new HttpError(501, 'Methods are in upper case (RFC 9110 section 9.1).');
  }
  if (method === 'PRI') throw new HttpError(501, 'PRI is no request (RFC 9113 section 3.4).');
}
