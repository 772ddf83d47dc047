/** Returns seconds as whole milliseconds (at least one) for PX and PEXPIRE. */
export function milliseconds(seconds: number): string {
  return String(Math.max(1, Math.ceil(seconds * 1000)));
}
