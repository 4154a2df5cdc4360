/** An email address of so many characters before the @, and so many in all. */
export const addressOf = (before: number, inAll: number): string => {
  const left = inAll - before - '@.org'.length
  const labels = Array.from({ length: left }, (_, index) => (index % 50 === 49 && index < left - 1 ? '.' : 'y'))
  return `${'x'.repeat(before)}@${labels.join('')}.org`
}
