//! Mutations of CSV by rows, columns and cells.

use super::random::Random;
use super::values;

/// Most copies of a row.
const MAX_COPIES: usize = 200;

/// One to four mutations of a table without quoted line ends.
pub fn mutate(text: &str, random: &mut Random) -> String {
    let mut rows: Vec<Vec<String>> =
        text.lines().map(|line| line.split(',').map(str::to_string).collect()).collect();
    for _ in 0..=random.small(4) {
        if !rows.is_empty() {
            mutate_once(&mut rows, random);
        }
    }
    let end = *random.pick(&["\n", "\n", "\n", "\r\n"]);
    let mut text: String = rows.iter().map(|row| row.join(",") + end).collect();
    if random.one_in(8) {
        text.truncate(text.trim_end().len());
    }
    text
}

fn mutate_once(rows: &mut Vec<Vec<String>>, random: &mut Random) {
    let row = random.below(rows.len());
    let column = random.below(rows[row].len().max(1));
    match random.below(14) {
        0 => {
            rows.remove(row);
        }
        1 => rows.insert(row, rows[row].clone()),
        2 => {
            let other = random.below(rows.len());
            rows.swap(row, other);
        }
        3 => rows[row].push(values::word(random)),
        4 => {
            rows[row].pop();
        }
        5 => rows.iter_mut().filter(|row| column < row.len()).for_each(|row| {
            row.remove(column);
        }),
        6 => rows.iter_mut().filter(|row| column < row.len()).for_each(|row| {
            row.push(row[column].clone());
        }),
        7 => {
            let copies = vec![rows[row].clone(); random.small(MAX_COPIES)];
            rows.extend(copies);
        }
        8 => quote(&mut rows[row], column, random),
        _ => {
            if let Some(cell) = rows[row].get_mut(column) {
                let near = values::near(cell, random).filter(|_| random.one_in(2));
                *cell = near.unwrap_or_else(|| values::word(random));
            }
        }
    }
}

/// Quotes around a cell, or only one of them.
fn quote(row: &mut [String], column: usize, random: &mut Random) {
    if let Some(cell) = row.get_mut(column) {
        let around = *random.pick(&["\"", "\"", "\"\"", "'"]);
        *cell = if random.one_in(3) {
            format!("{around}{cell}")
        } else {
            format!("{around}{cell}{around}")
        };
    }
}
