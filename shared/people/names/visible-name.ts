/** True if a name is readable and distinguishable: 1 to 100 characters, none invisible. */
export function isVisibleName(name: string): boolean {
  return /^[^\p{C}\p{Zl}\p{Zp}]{1,100}$/u.test(name) && name.trim() !== '';
}
