import { expect, test } from 'vitest'
import { barChart, funnelChart, lineChart, rowChart, type Chart } from '../../query-api/console/chart.ts'
import { h, htmlOf, type View } from '../../query-api/console/view.ts'

const htmlFor = (view: View): string => htmlOf(h('div', {}, view))

const chart: Chart = {
  title: 'Leads by stage',
  description: 'Leads that came in, by the stage they are at.',
  x: { title: 'Week', labels: ['2 Mar', '9 Mar', '16 Mar'] },
  y: { title: 'Leads', show: String },
  series: [
    { title: 'New', values: [4, 0, 2], list: '/all', listAt: (at) => `/list?from=${at}` },
    { title: '<b>Quoted</b>', values: [2, 3, null] },
  ],
}

const numbers = (html: string, pattern: RegExp): readonly number[] =>
  [...html.matchAll(pattern)].map(([, found]) => Number(found))

test('bars are as tall as their values, and stand on each other', () => {
  const html = htmlFor(barChart(chart))

  const tall = numbers(html, /<rect[^>]* height="([\d.]+)"/g)
  const unit = (tall[0] ?? 0) / 4
  expect(tall.slice(0, 4).map((each) => Math.round(each / unit))).toEqual([4, 2, 2, 3])
  const tops = numbers(html, /<rect[^>]* y="([\d.]+)"/g)
  expect((tops[2] ?? 0) + (tall[2] ?? 0)).toBeCloseTo(tops[0] ?? 0)
})

test('a line has a point at each value, and none where nothing is known', () => {
  const html = htmlFor(lineChart(chart))

  const heights = numbers(html, /<circle[^>]* cy="([\d.]+)"/g)
  expect(heights).toHaveLength(5)
  const [four = 0, zero = 0, two = 0] = heights
  expect((zero - four) / (zero - two)).toBeCloseTo(2)
})

test.each([
  ['a line', lineChart],
  ['bars', barChart],
])('%s has a title, a description, and the same figures as a table with the ways to their lists', (_named, drawn) => {
  const html = htmlFor(drawn(chart))

  expect(html).toMatch(/<title id="chart-leads-by-stage-title">Leads by stage<\/title>/)
  expect(html).toMatch(/<desc id="chart-leads-by-stage-about">Leads that came in/)
  const rows = [...html.matchAll(/<tr>(.*?)<\/tr>/g)].map(([, row = '']) => row.replaceAll(/<\/t[hd]>/g, '|'))
  expect(rows.map((row) => row.replaceAll(/<("[^"]*"|[^">])*>/g, ''))).toEqual([
    'Week|New|&#x3C;b>Quoted&#x3C;/b>|',
    '2 Mar|4|2|',
    '9 Mar|0|3|',
    '16 Mar|2|–|',
  ])
  expect(html.match(/<td[^>]*><a href="\/list\?from=\d"/g)).toHaveLength(3)
  expect(html).toContain('<a href="/all">New</a>')
  expect(html).not.toMatch(/ style=|<style|<script|>\s*<b>/)
})

test('counts have no parts of one on their axis', () => {
  const html = htmlFor(barChart({ ...chart, series: [{ title: 'New', values: [1, 0, 0] }] }))

  expect(numbers(html, /text-anchor="end">([\d.]+)</g)).toEqual([0, 1])
})

test('a funnel says how many are left of those before', () => {
  const steps = [
    { title: 'Started', value: 40, list: '/applications' },
    { title: 'Quoted', value: 10 },
    { title: 'Bound', value: 0 },
  ]
  const html = htmlFor(funnelChart({ title: 'Sales', description: 'From start to policy.', counted: 'Sales', steps }))

  expect(html).toContain('10 (25 %)')
  expect(numbers(html, /<rect[^>]* width="([\d.]+)"/g)).toEqual([400, 100, 0])
  expect(html).toContain('<a href="/applications">40</a>')
})

test('rows have a bar of each, with its value and the way to it', () => {
  const rows = [
    { title: 'applications', value: 8.4, list: '/applications' },
    { title: 'policies', value: 4.2 },
  ]
  const html = htmlFor(rowChart({ title: 'Behind', description: 'In seconds.', counted: 'Seconds', rows }))

  expect(numbers(html, /<rect[^>]* width="([\d.]+)"/g)).toEqual([400, 200])
  expect(html).toContain('<a href="/applications">applications</a>')
  expect(html).toContain('>8.4</td>')
})
