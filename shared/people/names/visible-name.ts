/** True if a name can be read and distinguished: 1 to 100 characters, none of them invisible. */
export function isVisibleName(name: string): boolean {
  return /^[^\p{C}\p{Zl}\p{Zp}]{1,100}$/u.test(name) && name.trim() !== '';
}
