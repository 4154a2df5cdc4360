import { meets, type Figure } from './figure.ts'

const shown = (value: number | undefined): string => {
  if (value === undefined) return ''
  return value >= 100 ? Math.round(value).toLocaleString('en-GB') : String(Number(value.toPrecision(3)))
}

const shownRatio = ({ ratio }: Figure): string =>
  ratio ? `${ratio.median.toFixed(2)} (${ratio.least.toFixed(2)}–${ratio.most.toFixed(2)})` : ''

const shownTarget = ({ target }: Figure): string =>
  target
    ? [
        target.ratio !== undefined && `ratio ≥ ${target.ratio}`,
        target.atLeast !== undefined && `≥ ${shown(target.atLeast)}`,
        target.below !== undefined && `< ${shown(target.below)}`,
      ]
        .filter((part) => part !== false)
        .join(', ')
    : ''

const verdict = (figure: Figure): string => {
  const met = meets(figure)
  return met === undefined ? '' : met ? 'yes' : 'NO'
}

const head = ['', 'unit', 'measured', 'floor', 'ratio (least–most)', 'target', 'met']

/** The figures as a table, and below it what else was seen. */
export const tableOf = (figures: readonly Figure[]): string => {
  const rows = figures.map((figure) => [
    figure.name,
    figure.unit,
    shown(figure.value),
    shown(figure.floor),
    shownRatio(figure),
    shownTarget(figure),
    verdict(figure),
  ])
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) =>
        column === 2 || column === 3 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd()
  const rule = widths.map((width) => '─'.repeat(width)).join('──')
  return [line(head), rule, ...rows.map(line)].join('\n')
}

export const detailsOf = ({ name, details }: Figure): string | undefined =>
  details &&
  `${name}: ${Object.entries(details)
    .map(([what, value]) => `${what} ${shown(value)}`)
    .join(', ')}`
