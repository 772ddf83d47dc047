/** "1 key", "2 keys". `many`: the plural that does not end in s alone. */
export const counted = (count: number, one: string, many = `${one}s`) =>
  `${count} ${count === 1 ? one : many}`;
