import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { makeMetrics } from '#infra/metrics.ts'

test('every metric that a guide names is one that the processes have', async () => {
  const guides = ['operate.md', 'keys.md', 'eventstoredb.md'].map(
    (name) => new URL(`../../docs/${name}`, import.meta.url),
  )
  const text = (await Promise.all(guides.map(async (guide) => readFile(guide, 'utf8')))).join('\n')
  const named = [...text.matchAll(/\bcoverstream_[a-z_]+_[a-z]+\b(?!")/g)].map(([name]) =>
    name.replace(/_seconds_(bucket|count|sum)$/, '_seconds'),
  )
  const known = (await makeMetrics().registry.getMetricsAsJSON()).map(({ name }) => name)

  expect(named.length).toBeGreaterThan(8)
  expect(named.filter((name) => !known.includes(name))).toEqual([])
})

test('an alert compares attempts that failed with delivered ones, also before any was delivered', async () => {
  const text = await makeMetrics().registry.metrics()

  for (const outcome of ['delivered', 'retry', 'failed'])
    expect(text).toContain(`coverstream_delivery_attempts_total{outcome="${outcome}"} 0`)
})

test('an operator is told what to watch: every metric of our own is in an alert or an explanation', async () => {
  const text = await readFile(new URL('../../docs/operate.md', import.meta.url), 'utf8')
  const known = (await makeMetrics().registry.getMetricsAsJSON()).map(({ name }) => name)
  const own = known.filter((name) => name.startsWith('coverstream_'))

  expect(own.filter((name) => !text.includes(name))).toEqual([])
})
