/** Seconds as the whole milliseconds (at least one) that PX and PEXPIRE take. */
export function milliseconds(seconds: number): string {
  return String(Math.max(1, Math.ceil(seconds * 1000)));
}
