/** How many random histories a test takes: its share of HISTORIES, which `npm run money` sets, else so many. */
export const shareOfHistories = (share: number, otherwise: number): number => {
  const histories = Number(process.env['HISTORIES'] ?? '')
  return histories > 0 ? Math.ceil(histories * share) : otherwise
}
