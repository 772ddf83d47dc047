/** Returns "1 key" or "2 keys". `many`: a plural that is not formed with s alone. */
export const counted = (count: number, one: string, many = `${one}s`) =>
  `${count} ${count === 1 ? one : many}`;
