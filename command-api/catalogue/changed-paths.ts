const most = 12

/** The places where two values differ, as `journeys[0].questions[3].label: "Old" → "New"`; a long list is cut short. */
export const changedPaths = (before: unknown, after: unknown): readonly string[] => {
  const all = differences('', before, after)
  return all.length > most ? [...all.slice(0, most), `and ${all.length - most} more changes`] : all
}

const differences = (path: string, before: unknown, after: unknown): readonly string[] => {
  if (Object.is(before, after)) return []
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length)
    return Array.from({ length }, (_, index) => differences(`${path}[${index}]`, before[index], after[index])).flat()
  }
  if (isObject(before) && isObject(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)])
    return [...names].flatMap((name) => differences(path === '' ? name : `${path}.${name}`, before[name], after[name]))
  }
  return [`${path}: ${shown(before)} → ${shown(after)}`]
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const shown = (value: unknown): string => {
  if (value === undefined) return 'nothing'
  const name = isObject(value) ? (value['slug'] ?? value['key'] ?? value['code'] ?? value['name']) : undefined
  if (typeof name === 'string') return name
  const json = JSON.stringify(value)
  return json.length > 60 ? `${json.slice(0, 59)}…` : json
}
