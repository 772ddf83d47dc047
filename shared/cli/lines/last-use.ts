/** Formats a time for lists, to the minute. */
export const minute = (time: number) => `${new Date(time).toISOString().slice(0, 16)}Z`;

export const lastUse = (used_at: number | undefined) =>
  used_at === undefined ? 'never used' : `used ${minute(used_at)}`;
